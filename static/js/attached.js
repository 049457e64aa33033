// Images beside the message that is being written: chosen, pasted or dropped. Each is uploaded at
// once; the message names it. They stay until the server has stored the message.
(() => {
  const form = document.getElementById("composer");
  if (!form) return;
  const button = document.getElementById("attach");
  const chooser = document.getElementById("attach-file");
  const list = document.getElementById("attached");
  const error = document.getElementById("composer-error");
  const zone = document.getElementById("main");
  const keptName = `images:${form.elements.conversation.value}`;
  const most = Number(list.dataset.most);
  const largest = Number(list.dataset.largest);

  const refuse = (text) => {
    const notice = document.createElement("p");
    notice.className = "refusal";
    notice.textContent = text;
    error.append(notice);
  };
  const items = () => [...list.children];
  const keep = () => {
    const kept = items().filter((item) => item.image).map((item) => item.image);
    sessionStorage.setItem(keptName, JSON.stringify(kept));
    list.hidden = !list.children.length;
  };
  const part = (name, attributes, ...inside) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...inside);
    return element;
  };

  const drop = (item) => {
    const next = item.nextElementSibling ?? item.previousElementSibling;
    item.remove();
    keep();
    (next?.querySelector("button") ?? form.elements.text).focus();
  };
  const place = (name) => {
    const item = part("li", { className: "loading" }, part("span", { className: "text", textContent: `Uploading ${name}…` }));
    const remove = part("button", { type: "button", className: "icon-button", title: "Remove this image" });
    remove.innerHTML = document.getElementById("icon-close").innerHTML;
    remove.append(part("span", { className: "visually-hidden", textContent: `Remove ${name}` }));
    remove.addEventListener("click", () => drop(item));
    item.append(remove);
    list.append(item);
    return item;
  };
  const fill = (item, image) => {
    item.image = image;
    item.classList.remove("loading");
    const alt = `${image.name}, ${image.width} × ${image.height} pixels`;
    item.querySelector(".text").replaceWith(part("img", { src: image.thumbnail, alt }));
    item.append(part("input", { type: "hidden", name: "images", value: image.sha256 }));
  };

  const wordsOf = async (answer) => {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return page.querySelector(".refusal")?.textContent ?? page.body.textContent.trim();
  };
  const upload = async (file) => {
    const item = place(file.name);
    keep();
    const body = new FormData();
    body.append("image", file);
    body.append("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    try {
      const answer = await fetch(list.dataset.address, { method: "POST", body, headers: { "HX-Request": "true" } });
      if (answer.redirected) throw new Error("You are no longer logged in: reload the page and log in.");
      if (answer.status !== 201) throw new Error(await wordsOf(answer));
      if (item.isConnected) fill(item, { ...(await answer.json()), name: file.name });
    } catch (problem) {
      const words = problem instanceof TypeError ? "The server is not answering; attach it again when it is back." : problem.message;
      if (item.isConnected) refuse(`${file.name}: ${words}`);
      item.remove();
    }
    keep();
  };
  const add = (files) => {
    error.replaceChildren();
    for (const file of files) {
      if (items().length >= most) return refuse(`A message may have at most ${most} images.`);
      if (file.size > largest) refuse(`${file.name}: the image has ${(file.size / 1048576).toFixed(1)} MB; at most ${largest / 1048576} MB are allowed.`);
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
    for (const item of items()) if (detail.includes(item.image?.sha256)) item.remove();
    keep();
  });

  for (const image of JSON.parse(sessionStorage.getItem(keptName) ?? "[]")) fill(place(image.name), image);
  keep();
})();
