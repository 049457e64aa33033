// A large file, sent in parts one after the other, so that a lost connection costs one part. Where
// the server asks to wait, or does not answer for a while, the part is sent again.
(() => {
  const form = document.getElementById("upload");
  if (!form) return;
  const chooser = document.getElementById("upload-file");
  const error = document.getElementById("upload-error");
  const progress = document.getElementById("upload-progress");
  const part = Number(form.dataset.part), largest = Number(form.dataset.largest);
  const TRIES = 6;
  const wait = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));
  const megabytes = (bytes) => Math.round(bytes / 1048576).toLocaleString(document.documentElement.lang);
  const token = form.elements.csrfmiddlewaretoken.value;

  const say = (words) => {
    const notice = document.createElement("p");
    notice.className = "refusal";
    notice.textContent = words;
    error.replaceChildren(notice);
  };
  const show = (done, size) => {
    progress.hidden = false;
    progress.querySelector("progress").value = (100 * done) / size;
    progress.querySelector("[role=status]").textContent = interpolate(gettext("%(percent)s % uploaded"), { percent: Math.floor((100 * done) / size) }, true);
  };
  const wordsOf = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".refusal")?.textContent ?? gettext("The server refused the file.");

  const post = async (address, body) => {
    for (let tries = 1; ; tries++) {
      let answer = null;
      try {
        answer = await fetch(address, { method: "POST", body, headers: { "HX-Request": "true", "X-CSRFToken": token } });
      } catch { /* tried again below */ }
      if (answer?.redirected) throw new Error(gettext("You are no longer logged in: reload the page and log in."));
      if (answer?.ok) return answer;
      if (answer && answer.status !== 429 && answer.status < 500) throw new Error(await wordsOf(answer));
      if (tries === TRIES) throw new Error(gettext("The server is not answering; upload the file again when it is back."));
      await wait(Math.min(60, Number(answer?.headers.get("Retry-After")) || 2 ** tries));
    }
  };
  const upload = async (file) => {
    const begun = new FormData();
    begun.append("name", file.name);
    begun.append("size", file.size);
    const { parts, page } = await (await post(form.action, begun)).json();
    for (let start = 0; start < file.size; start += part) {
      show(start, file.size);
      await post(`${parts}?start=${start}`, file.slice(start, start + part));
    }
    show(file.size, file.size);
    location.assign(page);
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const [file] = chooser.files;
    const button = form.querySelector("button");
    error.replaceChildren();
    if (!file) return;
    if (file.size > largest) return say(interpolate(gettext("The file has %(size)s MB; at most %(most)s MB are allowed."), { size: megabytes(file.size), most: megabytes(largest) }, true));
    button.disabled = true;
    try {
      await upload(file);
    } catch (problem) {
      say(problem.message);
      progress.hidden = true;
      button.disabled = false;
    }
  });
})();
