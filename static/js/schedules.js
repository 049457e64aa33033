// The list of scheduled messages, drawn anew when one was sent, added or stopped, here or elsewhere.
(() => {
  const list = document.getElementById("schedules");
  const KINDS = ["agent_changed", "run_began", "run_changed", "queue_changed", "activity"];
  const WAIT = 300, PAUSE = 3000, LOGGED_OUT = 4401;
  let seq = Number(list.dataset.seq), waiting = null;

  const draw = async () => {
    waiting = null;
    const response = await fetch(location.href, { headers: { "HX-Request": "true" } }).catch(() => null);
    if (response?.redirected) return location.reload();
    if (!response?.ok) return;
    await htmx.swap({ sourceElement: list, target: list, text: await response.text(), swap: "innerMorph" });
  };
  const freshen = () => { waiting ??= setTimeout(draw, WAIT); };

  const connect = () => {
    const socket = new WebSocket(`${location.origin.replace("http", "ws")}/ws/?language=${document.documentElement.lang}`);
    const send = (body) => socket.send(JSON.stringify(body));
    socket.addEventListener("open", () => send({ command: "follow", agent: list.dataset.agent, after: seq }));
    socket.addEventListener("message", ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.reload) return location.reload();
      if (!frame.seq) return;
      seq = frame.seq;
      send({ command: "ack", seq });
      if (KINDS.includes(frame.kind)) freshen();
    });
    socket.addEventListener("close", ({ code }) => {
      if (code === LOGGED_OUT) location.reload();
      else setTimeout(connect, PAUSE + Math.random() * PAUSE);
    });
  };
  connect();
})();
