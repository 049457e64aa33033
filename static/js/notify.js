// A notice while nobody looks at the page: the agent needs a person, or a long run has ended. The
// page's title says it always, sound and the browser's notice come where the person switched them on.
(() => {
  const button = document.getElementById("notify");
  const log = document.getElementById("log");
  if (!button || !log) return;
  const LONG = 15_000; // milliseconds
  const KEY = "notify";
  let audio = null, noticed = "";
  const name = () => document.querySelector("h1")?.textContent.trim() ?? "memoryweb";
  const isOn = () => localStorage.getItem(KEY) === "1";
  const waiting = () => log.querySelectorAll("form.approval").length;
  const runs = () => !document.getElementById("stop")?.hidden;
  let asked = waiting(), began = runs() ? Date.now() : 0;

  const show = () => button.setAttribute("aria-pressed", String(isOn()));
  button.hidden = false;
  show();
  button.addEventListener("click", async () => {
    localStorage.setItem(KEY, isOn() ? "" : "1");
    show();
    if (!isOn()) return;
    sound(); // so that one knows it, and the browser allows it later
    if ("Notification" in window && Notification.permission === "default") await Notification.requestPermission();
  });

  const sound = () => {
    audio ??= new AudioContext();
    const tone = audio.createOscillator(), volume = audio.createGain();
    volume.gain.setValueAtTime(0.08, audio.currentTime);
    volume.gain.exponentialRampToValueAtTime(0.0001, audio.currentTime + 0.4);
    tone.frequency.value = 660;
    tone.connect(volume).connect(audio.destination);
    tone.start();
    tone.stop(audio.currentTime + 0.4);
  };
  const notice = (words) => {
    clear();
    noticed = `${words} · `;
    document.title = noticed + document.title;
    if (!isOn()) return;
    sound();
    if ("Notification" in window && Notification.permission === "granted") {
      const shown = new Notification(name(), { body: words, tag: location.pathname });
      shown.onclick = () => { window.focus(); shown.close(); };
    }
  };
  const clear = () => {
    if (noticed) document.title = document.title.replace(noticed, "");
    noticed = "";
  };
  document.addEventListener("visibilitychange", () => document.hidden || clear());

  // Looked at after each event is drawn, so that the page itself says how things stand.
  document.addEventListener("memoryweb:event", () => setTimeout(() => {
    const now = waiting(), going = runs();
    if (document.hidden && now > asked) notice(gettext("Waits for you"));
    else if (document.hidden && began && !going && Date.now() - began >= LONG) notice(gettext("Done"));
    asked = now;
    if (!going) began = 0;
    else if (!began || now) began = Date.now(); // what a person takes to decide is no long run
  }));
})();
