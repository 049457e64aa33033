// Images and files beside the message that is being written: chosen, pasted or dropped. Each is
// uploaded at once; the message names it. They stay until the server has stored the message. An
// image is shown; a file is followed until its text is in archival memory.
(() => {
  const form = document.getElementById("composer");
  if (!form) return;
  const button = document.getElementById("attach");
  const chooser = document.getElementById("attach-file");
  const list = document.getElementById("attached");
  const error = document.getElementById("composer-error");
  const zone = document.getElementById("main");
  const keptName = `attached:${form.elements.conversation.value}`;
  const most = Number(list.dataset.most);
  const largest = Number(list.dataset.largest);
  const FOLLOW = 600, RETRY = 3000; // milliseconds
  const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const LOGGED_OUT = gettext("You are no longer logged in: reload the page and log in.");

  const refuse = (text) => {
    const notice = document.createElement("p");
    notice.className = "refusal";
    notice.textContent = text;
    error.append(notice);
  };
  const items = () => [...list.children];
  const keep = () => {
    const kept = items().filter((item) => item.kept).map((item) => item.kept);
    sessionStorage.setItem(keptName, JSON.stringify(kept));
    list.hidden = !list.children.length;
  };
  const part = (name, attributes, ...inside) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...inside);
    return element;
  };
  const send = (address, body = new FormData()) => {
    body.append("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    return fetch(address, { method: "POST", body, headers: { "HX-Request": "true" } });
  };

  const drop = (item) => {
    const next = item.nextElementSibling ?? item.previousElementSibling;
    item.remove();
    if (item.kept?.own) send(item.kept.remove).catch(() => refuse(interpolate(gettext("%(name)s is still in archival memory, as the server is not answering. Delete its passages in the Archival tab."), { name: item.kept.name }, true)));
    keep();
    (next?.querySelector("button") ?? form.elements.text).focus();
  };
  const place = (name) => {
    const item = part("li", { className: "loading" }, part("span", { className: "text", textContent: interpolate(gettext("Uploading %(name)s…"), { name }, true) }));
    const remove = part("button", { type: "button", className: "icon-button", title: gettext("Remove it") });
    remove.innerHTML = document.getElementById("icon-close").innerHTML;
    remove.append(part("span", { className: "visually-hidden", textContent: interpolate(gettext("Remove %(name)s"), { name }, true) }));
    remove.addEventListener("click", () => drop(item));
    item.append(remove);
    list.append(item);
    return item;
  };
  const ready = (item, name, value) => {
    item.classList.remove("loading");
    item.append(part("input", { type: "hidden", name, value }));
  };
  const fill = (item, image) => {
    item.kept = image;
    const alt = interpolate(gettext("%(name)s, %(width)s × %(height)s pixels"), image, true);
    item.querySelector(".text").replaceWith(part("img", { src: image.thumbnail, alt }));
    ready(item, "images", image.sha256);
  };

  // -- files, which are read in the background ------------------------------------------------

  const number = (count) => count.toLocaleString(document.documentElement.lang);
  const draw = (item, file) => {
    const counts = { stored: number(file.stored), total: number(file.total) };
    const going = file.total ? interpolate(ngettext("%(stored)s of %(total)s passage stored", "%(stored)s of %(total)s passages stored", file.total), counts, true) : gettext("Reading…");
    const done = interpolate(ngettext("%(total)s passage in archival memory", "%(total)s passages in archival memory", file.total), counts, true);
    const state = part("small", { textContent: file.status === "reading" ? going : done });
    const about = part("span", { className: "text" }, part("b", { textContent: file.name }), state);
    if (file.status === "reading") about.append(part("progress", file.total ? { value: file.stored, max: file.total } : {}));
    else if (file.remark) about.append(part("small", { textContent: file.remark }));
    item.querySelector(".text").replaceWith(about);
  };
  const asked = async (file) => {
    try {
      const answer = await fetch(file.address);
      if (answer.redirected) throw new Error(LOGGED_OUT);
      if (answer.status === 404) throw new Error(gettext("It was removed from archival memory. Attach it again."));
      if (answer.ok) return { ...file, ...(await answer.json()) };
    } catch (problem) {
      if (!(problem instanceof TypeError)) throw problem; // else the server is away
    }
    await wait(RETRY);
    return file;
  };
  const follow = async (item, file) => {
    item.classList.add("file");
    for (let now = file; item.isConnected; now = await asked(now)) {
      item.kept = now;
      draw(item, now);
      keep();
      if (now.status === "done") return ready(item, "files", now.id);
      if (now.status === "failed") {
        send(now.remove).catch(() => {}); // it is told here, and need not be in the Archival tab
        throw new Error(now.remark);
      }
      await wait(FOLLOW);
    }
  };

  // -- taken ----------------------------------------------------------------------------------

  const wordsOf = async (answer) => {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return page.querySelector(".refusal")?.textContent ?? page.body.textContent.trim();
  };
  const told = async (item, name, doing) => {
    try {
      await doing();
    } catch (problem) {
      const words = problem instanceof TypeError ? gettext("The server is not answering; attach it again when it is back.") : problem.message;
      if (item.isConnected) refuse(`${name}: ${words}`);
      item.remove();
    }
    keep();
  };
  const upload = (file) => {
    const item = place(file.name);
    keep();
    const kind = file.type.startsWith("image/") ? "image" : "file";
    const body = new FormData();
    body.append(kind, file);
    return told(item, file.name, async () => {
      const answer = await send(list.dataset[kind], body);
      if (answer.redirected) throw new Error(LOGGED_OUT);
      if (!answer.ok) throw new Error(await wordsOf(answer));
      const taken = await answer.json();
      if (kind === "image" && item.isConnected) fill(item, { ...taken, name: file.name });
      if (kind === "file" && item.isConnected) await follow(item, { ...taken, own: answer.status === 201 });
      else if (kind === "file" && answer.status === 201) await send(taken.remove); // taken away meanwhile
    });
  };
  const megabytes = (bytes, least = 0) => (bytes / 1048576).toLocaleString(document.documentElement.lang, { minimumFractionDigits: least, maximumFractionDigits: 1 });
  const add = (files) => {
    error.replaceChildren();
    for (const file of files) {
      if (items().length >= most) return refuse(interpolate(gettext("A message may have at most %(most)s files."), { most }, true));
      if (file.size > largest) refuse(interpolate(gettext("%(name)s: the file has %(size)s MB; at most %(most)s MB are allowed."), { name: file.name, size: megabytes(file.size, 1), most: megabytes(largest) }, true));
      else if (!list.dataset.file && !file.type.startsWith("image/")) refuse(interpolate(gettext("%(name)s: a temporary chat has no archival memory for a file; attach images only."), { name: file.name }, true));
      else upload(file);
    }
  };

  button.hidden = false;
  button.addEventListener("click", () => chooser.click());
  chooser.addEventListener("change", () => { add([...chooser.files]); chooser.value = ""; form.elements.text.focus(); });
  form.elements.text.addEventListener("paste", (event) => {
    const files = [...event.clipboardData.files];
    if (!files.length || event.clipboardData.types.includes("text/plain")) return;
    event.preventDefault();
    add(files);
  });

  const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");
  zone.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    zone.classList.add("dropping");
  });
  zone.addEventListener("dragleave", (event) => { if (!zone.contains(event.relatedTarget)) zone.classList.remove("dropping"); });
  zone.addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    zone.classList.remove("dropping");
    add([...event.dataTransfer.files]);
  });

  // The composer says which were sent.
  document.addEventListener("memoryweb:sent", ({ detail }) => {
    for (const item of items()) if (detail.includes(item.querySelector("input")?.value)) item.remove();
    keep();
  });

  for (const kept of JSON.parse(sessionStorage.getItem(keptName) ?? "[]")) {
    const item = place(kept.name);
    if (kept.sha256) fill(item, kept);
    else told(item, kept.name, async () => follow(item, await asked(kept)));
  }
  keep();
})();
