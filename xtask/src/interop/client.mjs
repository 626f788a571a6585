// The official TypeScript client against a server: prints what it sees as one line of JSON.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const task = JSON.parse(process.argv[2]);
const transport = task.url
  ? new StreamableHTTPClientTransport(new URL(task.url))
  : new StdioClientTransport({
      command: task.command,
      args: task.arguments,
      env: task.environment,
      stderr: "ignore",
    });
const mode = ["legacy", "auto"].includes(task.mode) ? task.mode : { pin: task.mode };
const client = new Client({ name: "interop", version: "1.0.0" }, { versionNegotiation: { mode } });
await client.connect(transport);
const { tools } = await client.listTools();
const answers = [];
for (const call of task.calls) {
  const result = await client.callTool({ name: call.tool, arguments: call.arguments });
  const text = result.content.map((block) => block.text).join("\n");
  answers.push({ text, isError: result.isError === true });
}
console.log(JSON.stringify({
  protocol: client.getNegotiatedProtocolVersion(),
  tools: tools.map((tool) => tool.name),
  answers,
}));
await client.close();
