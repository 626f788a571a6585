// A stateless server on the TypeScript SDK, as its own documentation builds one: a server and a
// transport for each request. Its tools return a fixed text. Prints where it is.
import http from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const FOUND = "x".repeat(5000);

function build() {
  const server = new McpServer({ name: "peer", version: "1.0.0" });
  const answer = (text) => async () => ({ content: [{ type: "text", text }] });
  server.registerTool("search", { description: "Finds.", inputSchema: { query: z.string() } }, answer(FOUND));
  server.registerTool("execute", { description: "Runs.", inputSchema: { code: z.string() } }, answer('{"result":1}'));
  server.registerTool("execute_write", { description: "Writes.", inputSchema: { code: z.string() } }, answer("{}"));
  return server;
}

const listener = http.createServer((request, response) => {
  let body = "";
  request.on("data", (data) => (body += data));
  request.on("end", async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: true,
    });
    const server = build();
    response.on("close", () => {
      transport.close();
      server.close();
    });
    await server.connect(transport);
    await transport.handleRequest(request, response, JSON.parse(body));
  });
});
listener.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ endpoint: `http://127.0.0.1:${listener.address().port}/mcp` }));
});
