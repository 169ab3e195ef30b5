// Serves a stdio server over streamable HTTP, for official servers that have no HTTP of their own. Prints its port.
// Arguments: the program and its arguments.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [program, ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
child.on('exit', () => process.exit());
process.on('exit', () => child.kill('SIGKILL'));
const waiting = new Map();
createInterface({ input: child.stdout }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === undefined) waiting.get(id)?.(line);
  waiting.delete(id);
});

const server = createServer(async (request, response) => {
  if (request.method !== 'POST') return response.writeHead(405).end();
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const message = JSON.parse(Buffer.concat(pieces));
  const answered = message.id === undefined ? undefined : new Promise((done) => waiting.set(message.id, done));
  child.stdin.write(`${JSON.stringify(message)}\n`);
  if (answered === undefined) return response.writeHead(202).end();
  response.writeHead(200, { 'content-type': 'application/json' }).end(await answered);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
