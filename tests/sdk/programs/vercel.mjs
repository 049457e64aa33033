// The provider for Vercel's AI SDK: a text at once, and as a stream.
import { createLetta } from "@letta-ai/vercel-ai-sdk-provider";
import { generateText, streamText } from "ai";

const letta = createLetta({ baseUrl: process.env.LETTA_BASE_URL, token: "any" });
const providerOptions = { letta: { agent: { id: process.argv[2] } } };
const asked = { model: letta(), providerOptions, prompt: "Hello" };
const whole = await generateText(asked);
let streamed = "";
for await (const piece of streamText(asked).textStream) streamed += piece;
console.log(JSON.stringify({ whole: whole.text, finish: whole.finishReason, streamed }));
