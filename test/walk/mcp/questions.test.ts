// Questions of MCP servers to the user, approval of a workspace's servers, inputs, and instructions.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type LaunchProof } from '../../../src/mcp/config/launch.ts';
import { elicit } from '../../../src/mcp/elicitation.ts';
import { beginMcpWalk, call, createTestMemory, servers } from '../../support/mcp/mcpWalk.ts';

const done = { text: ['Done.'] };

test('an elicitation of the official everything server is asked field by field; a skipped required field declines it', async () => {
  const walk = await beginMcpWalk({ e: servers.everything() }, [call('e__trigger-elicitation-request'), done]);
  walk.headless.frontend.answerQuestion = async ({ text, options, several }) => {
    const field = text.split('\n').at(-1) ?? '';
    const answer = /legal name/.test(field) ? 'Ada' : (options?.[0] ?? '');
    return { answer: several === true ? [answer] : answer, by: 'user' };
  };
  await walk.go();
  const { questions } = walk.headless.frontend;
  expect(questions.length).toBeGreaterThan(1);
  expect(questions[0]?.text).toContain('The MCP server “e” asks: ');
  expect(walk.results()[0]).toContain('Ada');
});

test('a server of the workspace starts only after approval of its command and hashes; a changed file is asked for again', async () => {
  const asked: { proof: LaunchProof; changed: boolean }[] = [];
  const memory = createTestMemory();
  let answer = false;
  const host = {
    memory,
    approve: async (_server: unknown, proof: LaunchProof, changed: boolean) => {
      asked.push({ proof, changed });
      return answer;
    },
  };
  const walk = await beginMcpWalk({}, [], { host, ofWorkspace: true });
  const script = join(walk.headless.folder, 'server.mjs');
  await writeFile(script, 'process.exit(1)');
  const begin = () =>
    beginMcpWalk({ s: { command: process.execPath, args: [script] } }, [], { host, ofWorkspace: true });
  const refused = await begin();
  expect(refused.mcp.get('s')?.state).toBe('approval');
  expect(asked[0]?.proof.files.map(({ path }) => path)).toEqual([process.execPath, script]);
  expect(asked[0]?.proof.files[1]?.sha256).toMatch(/^[0-9a-f]{64}$/);
  answer = true;
  await begin();
  await begin();
  expect(asked).toHaveLength(2);
  await writeFile(script, 'process.exit(2)');
  await begin();
  expect(asked).toHaveLength(3);
  expect(asked[2]?.changed).toBe(true);
});

test('a form is declined after five answers that do not fit, and what a server asks outside a call is cancelled', async () => {
  const asked: string[] = [];
  const ask = async ({ text }: { readonly text: string }) => {
    asked.push(text);
    return 'many';
  };
  const requestedSchema = { type: 'object', properties: { cups: { type: 'integer', minimum: 1 } }, required: ['cups'] };
  const answer = await elicit('s', { message: 'How many?', requestedSchema }, { ask }, async () => true);
  expect(answer).toEqual({ action: 'decline' });
  expect(asked).toHaveLength(5);
  expect(asked[1]).toContain('Enter a whole number.');
});

test('a page is opened only if it is on the web and the user chose to', async () => {
  const opened: string[] = [];
  const open = async (url: string) => {
    opened.push(url);
    return true;
  };
  const choose = (option: string) => ({ ask: async () => option });
  const asks = (url: string) => ({ mode: 'url', message: 'Sign in', url, elicitationId: '1' });
  expect(await elicit('s', asks('https://example.com/x'), choose('Open in browser'), open)).toEqual({
    action: 'accept',
  });
  expect(await elicit('s', asks('https://example.com/y'), choose('Decline'), open)).toEqual({ action: 'decline' });
  expect(await elicit('s', asks('vscode://evil'), choose('Open in browser'), open)).toEqual({ action: 'decline' });
  expect(opened).toEqual(['https://example.com/x']);
});
