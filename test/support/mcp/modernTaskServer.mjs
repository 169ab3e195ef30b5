// A server of revision 2026-07-28 over stdio, without a library, whose calls become tasks. The tasks survive its
// process as files in a folder: `requests` (methods called, one per line), `done` (its text ends the task),
// `cancelled`, `answers` (the answers that a task received).
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  CancelTaskRequestV2Schema,
  ClientTaskCapabilityEnvelopeV2Schema,
  GetTaskRequestV2Schema,
  UpdateTaskRequestV2Schema,
} from '@modelcontextprotocol/ext-tasks/core/v2';

const at = (name) => join(process.argv[2], name);
const now = new Date().toISOString();
const complete = { resultType: 'complete' };
const cacheable = { ...complete, ttlMs: 0, cacheScope: 'private' };
const text = (value) => ({ ...complete, content: [{ type: 'text', text: value }] });
const schemas = {
  'tasks/get': GetTaskRequestV2Schema,
  'tasks/update': UpdateTaskRequestV2Schema,
  'tasks/cancel': CancelTaskRequestV2Schema,
};
const requestedSchema = { type: 'object', properties: { tea: { type: 'string', title: 'Tea' } }, required: ['tea'] };
const inputRequests = { tea: { method: 'elicitation/create', params: { message: 'Which tea?', requestedSchema } } };

function stateOf(taskId) {
  if (existsSync(at('cancelled'))) return { status: 'cancelled' };
  // An empty file is just being written.
  const done = existsSync(at('done')) ? readFileSync(at('done'), 'utf8') : '';
  if (done !== '') return { status: 'completed', result: text(done) };
  if (taskId !== 'task-ask') return { status: 'working' };
  if (!existsSync(at('answers'))) return { status: 'input_required', inputRequests };
  return { status: 'completed', result: text(`Answers: ${readFileSync(at('answers'), 'utf8')}`) };
}

const taskOf = (taskId, state) => {
  const base = { taskId, statusMessage: 'Brewing', createdAt: now, lastUpdatedAt: now, ttlMs: null };
  return { ...base, pollIntervalMs: 20, ...state };
};

const answers = {
  'server/discover': () => ({
    ...cacheable,
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'tasks', version: '1' } },
  }),
  'tools/list': () => {
    const tools = ['brew', 'ask', 'now', 'late'].map((name) => ({ name, inputSchema: { type: 'object' } }));
    tools[0].outputSchema = { type: 'object', required: ['cups'] };
    return { ...cacheable, tools };
  },
  'tools/call': ({ name, _meta }) => {
    ClientTaskCapabilityEnvelopeV2Schema.parse(_meta['io.modelcontextprotocol/clientCapabilities']);
    if (name === 'now') return text('At once.');
    return { resultType: 'task', ...taskOf(`task-${name}`, { status: 'working' }) };
  },
  'tasks/get': ({ taskId }) => ({ ...complete, ...taskOf(taskId, stateOf(taskId)) }),
  'tasks/update': ({ inputResponses }) => {
    writeFileSync(at('answers'), JSON.stringify(inputResponses));
    return complete;
  },
  'tasks/cancel': () => {
    writeFileSync(at('cancelled'), '');
    return complete;
  },
};

/** Runs `act` once a file `release` exists. */
function later(act) {
  const timer = setInterval(() => {
    if (!existsSync(at('release'))) return;
    clearInterval(timer);
    act();
  }, 20);
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  const { id, method, params } = message;
  appendFileSync(at('requests'), `${method}\n`);
  if (id === undefined) return;
  const send = (answer) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
  try {
    schemas[method]?.parse(message);
    const answer = answers[method];
    const isLate = method === 'tools/call' && params.name === 'late';
    if (isLate) return void later(() => send({ result: answer(params) }));
    send(answer === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result: answer(params) });
  } catch (error) {
    send({ error: { code: -32602, message: String(error) } });
  }
});
