// The official TypeScript SDKs: node typescript.mjs NODE_MODULES GENERATION MODE COMMAND...
// GENERATION is 1 or 2; MODE is legacy, auto or a revision. The report is one line of JSON.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, generation, mode, command, ...args] = process.argv.slice(2);
const require = createRequire(`${folder}/index.js`);
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);

async function connect() {
  const info = { name: "tests", version: "1" };
  if (generation === "1") {
    const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
    const client = new Client(info);
    await client.connect(new StdioClientTransport({ command, args }));
    return client;
  }
  const { Client } = await load("@modelcontextprotocol/client");
  const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
  const pinned = mode === "legacy" || mode === "auto" ? mode : { pin: mode };
  const client = new Client(info, { versionNegotiation: { mode: pinned } });
  await client.connect(new StdioClientTransport({ command, args }));
  return client;
}

const client = await connect();

async function call(name, given, options) {
  const params = { name, arguments: given };
  const result = generation === "1"
    ? await client.callTool(params, undefined, options)
    : await client.callTool(params, options);
  return [Boolean(result.isError), result.content[0].text, result.structuredContent ?? null];
}

async function fault(promise) {
  try {
    await promise;
  } catch (error) {
    return { code: error.code ?? null, message: String(error.message) };
  }
  return null;
}

const read = async (uri) => (await client.readResource({ uri })).contents[0].text;
const report = {
  version: client.getNegotiatedProtocolVersion?.() ?? client.transport?.protocolVersion ?? null,
};
report.tools = (await client.listTools()).tools.map((tool) => tool.name);
report.calls = {};
for (const [name, given] of [
  ["list_projects", {}],
  ["search_records", { query: "kafka", limit: 2 }],
  ["get_record", { id: "payments/adr/1" }],
  ["list_tags", {}],
  ["list_fields", {}],
  ["list_authors", { project: "payments" }],
  ["due_reviews", { all: true }],
  ["rfc_reviews", {}],
]) {
  report.calls[name] = await call(name, given);
}
report.toolError = await call("search_records", { limit: 0 });
report.unknownTool = await fault(call("nothing", {}));
report.uris = (await client.listResources()).resources.map((resource) => resource.uri);
const { resourceTemplates } = await client.listResourceTemplates();
report.templates = resourceTemplates.map((template) => template.name);
report.texts = {};
for (const uri of report.uris) {
  report.texts[uri] = await read(uri);
}
report.unknownResource = await fault(read("decision://no/such"));
report.completion = null;
if (report.version > "2026") {
  const ref = { type: "ref/resource", uri: "decision://{id}" };
  const { completion } = await client.complete({ ref, argument: { name: "id", value: "ledger" } });
  report.completion = completion.values;
}
report.timeout = await fault(call("search_records", { query: "wait" }, { timeout: 500 }));
report.after = await call("list_tags", {});
const ended = Date.now();
await client.close();
report.closing = (Date.now() - ended) / 1000;
process.stdout.write(JSON.stringify(report) + "\n");
