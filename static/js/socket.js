// The page's socket: says what the page shows, acknowledges what it drew, shows when it is away.
(() => {
  const AWAY_SHOWN_AFTER = 2000;
  const ACK_EVERY = 100;
  const ASK_AFTER = 1000;
  const LOGGED_OUT = 4401;
  const RESTARTS = 1012; // the server does; its pages come back one after the other
  const SPREAD = 5000;
  const RELOADED = "reloaded";
  let away = null, acking = null, asking = null, socket = null, usual = null;
  const chat = () => document.getElementById("chat");
  const loggedOut = () => document.getElementById("logged-out");
  const send = (body) => socket?.readyState === WebSocket.OPEN && socket.send(JSON.stringify(body));

  document.addEventListener("htmx:after:ws:connection", (event) => {
    const { connection } = event.detail;
    socket = connection.socket;
    if (usual) connection.config = usual;
    const { agent, conversation, seq, temporary } = chat().dataset;
    send({ command: "follow", agent, conversation, after: Number(seq), temporary: temporary !== undefined });
  });

  // The first try comes after any time up to SPREAD; those that follow wait longer, as always.
  const spread = (connection) => {
    usual ??= connection.config;
    connection.config = { ...usual, reconnectDelay: usual.reconnectDelay + Math.round(Math.random() * SPREAD) };
  };

  // What was typed beside the composer, which keeps its own, would be lost.
  const isTyped = (field) => field.id !== "message" && field.value !== field.defaultValue;
  const reload = () => {
    const again = Date.now() - Number(sessionStorage.getItem(RELOADED)) < 60000;
    if (again || [...document.querySelectorAll("textarea, input[type=text]")].some(isTyped)) {
      document.getElementById("outdated").hidden = false;
      return;
    }
    sessionStorage.setItem(RELOADED, Date.now());
    location.reload();
  };

  // A log-in that has ended does not come back by trying again.
  document.addEventListener("htmx:ws:close", ({ detail }) => {
    if (detail.code === RESTARTS) spread(detail.connection);
    if (detail.code === LOGGED_OUT) loggedOut().hidden = false;
    if (!loggedOut().hidden) return;
    away ??= setTimeout(() => { document.getElementById("connection").hidden = false; }, AWAY_SHOWN_AFTER);
  });

  // A socket without a network under it looks open for minutes; a new one is tried until it comes.
  document.addEventListener("memoryweb:offline", () => socket?.close());

  document.addEventListener("htmx:before:ws:connection", (event) => {
    if (!loggedOut().hidden) event.detail.connection.cancelled = true;
  });

  // An event the page has drawn already is not drawn again.
  document.addEventListener("htmx:before:ws:message", (event) => {
    const { json } = event.detail.message;
    if (json?.seq && json.seq <= Number(chat().dataset.seq)) event.detail.message.cancelled = true;
  });

  // A piece of a draft may come twice, or after another was lost: its place in the text tells.
  const write = ({ message, field, start, text }) => {
    const draft = document.getElementById(`message-${message}-${field}`);
    const has = Number(draft?.dataset.length);
    const characters = [...text];
    if (!draft || start > has || start + characters.length <= has) return false;
    draft.append(characters.slice(has - start).join(""));
    draft.dataset.length = start + characters.length;
    return field === "content";
  };

  // A finished block takes the place of its raw text. A page that came later, or missed one, asks
  // for all of them, which come as one that starts at 0.
  const ask = (message) => {
    const { agent, conversation } = chat().dataset;
    asking ??= setTimeout(() => {
      asking = null;
      if (document.getElementById(`message-${message}-content`)) send({ command: "draft", agent, conversation, message });
    }, ASK_AFTER);
  };
  const draw = ({ message, start, end, html }) => {
    const rest = document.getElementById(`message-${message}-content`);
    const has = Number(rest?.dataset.start);
    if (!rest || end <= has) return;
    if (start > has) return ask(message);
    if (start < has && start > 0) return;
    while (start === 0 && rest.previousElementSibling) rest.previousElementSibling.remove();
    rest.insertAdjacentHTML("beforebegin", html);
    rest.textContent = [...rest.textContent].slice(end - has).join("");
    rest.dataset.start = end;
    rest.dataset.length = Math.max(end, Number(rest.dataset.length));
  };

  document.addEventListener("htmx:after:ws:message", (event) => {
    const { json } = event.detail.message;
    if (!json) return;
    if (json.piece && write(json.piece) && json.seq) ask(json.piece.message); // from the log: it may lack more
    if (json.block) draw(json.block);
    if (json.reload) reload();
    if (json.following) {
      clearTimeout(away);
      away = null;
      document.getElementById("connection").hidden = true;
      document.dispatchEvent(new CustomEvent("memoryweb:connected"));
    }
    if (json.accepted) document.dispatchEvent(new CustomEvent("memoryweb:accepted", { detail: json.accepted }));
    if (json.refused !== undefined) document.dispatchEvent(new CustomEvent("memoryweb:refused", { detail: json.refused }));
    if (!json.seq) return;
    chat().dataset.seq = json.seq;
    document.dispatchEvent(new CustomEvent("memoryweb:event", { detail: { kind: json.kind, seq: json.seq } }));
    acking ??= setTimeout(() => {
      acking = null;
      send({ command: "ack", seq: Number(chat().dataset.seq) });
    }, ACK_EVERY);
  });
})();
