// The same three tools on the TypeScript SDK, as its own documentation builds a stateless server: a server and
// a transport for each request. `search` counts words over the same document and answers with the five best
// operations as they stand there; `execute` runs its script in a fresh isolate, the least of Node that can
// end a script that hangs. Started as `peer.mjs DOCUMENT`; prints where it is.
import fs from "node:fs";
import http from "node:http";
import { Worker } from "node:worker_threads";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const MEGABYTES = 64;
const MILLISECONDS = 5000;

const document = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([, operation]) => operation.responses)
    .map(([method, operation]) => {
      const { operationId = "", summary = "", description = "", tags = [] } = operation;
      const text = [path, operationId, summary, description, ...tags].join(" ").toLowerCase();
      return { text, operation: { method, path, ...operation } };
    }),
);

function search(query) {
  const words = query.toLowerCase().split(/\W+/).filter(Boolean);
  const count = ({ text }) => words.filter((word) => text.includes(word)).length;
  const ranked = operations.map((it) => [count(it), it.operation]).sort(([left], [right]) => right - left);
  return JSON.stringify(ranked.slice(0, 5).map(([, operation]) => operation));
}

const ISOLATE = `
const { parentPort, workerData } = require("node:worker_threads");
const run = require("node:vm").runInNewContext("(async () => {" + workerData + "\\n})()");
run.then((result) => parentPort.postMessage(JSON.stringify({ result })));
`;

function execute(code) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(ISOLATE, {
      eval: true,
      workerData: code,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MEGABYTES },
    });
    const deadline = setTimeout(() => worker.terminate(), MILLISECONDS);
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => {
      clearTimeout(deadline);
      reject(new Error("the script was stopped"));
    });
  });
}

function build() {
  const server = new McpServer({ name: "peer", version: "1.0.0" });
  const text = (text) => ({ content: [{ type: "text", text }] });
  server.registerTool("search", { description: "Finds.", inputSchema: { query: z.string() } }, async ({ query }) =>
    text(search(query)),
  );
  server.registerTool("execute", { description: "Runs.", inputSchema: { code: z.string() } }, async ({ code }) =>
    text(await execute(code)),
  );
  server.registerTool("execute_write", { description: "Writes.", inputSchema: { code: z.string() } }, async () =>
    text("{}"),
  );
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
