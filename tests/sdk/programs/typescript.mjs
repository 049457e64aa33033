// The SDK for TypeScript: an agent, an answer whole and in pieces, a block, the list of messages.
import Letta from "@letta-ai/letta-client";

const client = new Letta({ baseURL: process.env.LETTA_BASE_URL });
const agent = await client.agents.create({
  agent_type: "letta_v1_agent",
  memory_blocks: [{ label: "human", value: "Name: Ann" }],
});
const hello = { messages: [{ role: "user", content: "Hello" }] };
const whole = await client.agents.messages.create(agent.id, hello);
const pieces = [];
const streamed = await client.agents.messages.stream(agent.id, { ...hello, stream_tokens: true });
for await (const chunk of streamed) if (chunk.message_type !== "ping") pieces.push(chunk);
const block = await client.agents.blocks.update("human", { agent_id: agent.id, value: "Bob" });
const listed = [];
for await (const message of client.agents.messages.list(agent.id)) listed.push(message.message_type);
const missing = await client.agents.retrieve("agent-00000000-0000-4000-8000-000000000000").catch(
  (error) => [error instanceof Letta.NotFoundError, error.status],
);
const told = {
  said: whole.messages.map((message) => message.content),
  stop: whole.stop_reason.stop_reason,
  streamed: pieces.filter((chunk) => chunk.content).map((chunk) => chunk.content).join(""),
  ends: pieces.slice(-2).map((chunk) => chunk.message_type),
  block: block.value,
  listed,
  missing,
};
console.log(JSON.stringify(told));
