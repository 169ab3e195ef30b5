// The Guide: which requests it understands, which tools it calls, how it uses results and reports notifications.
import { describe, expect, test } from 'vitest';
import { SYSTEM_REQUEST } from '../../../../src/core/conversation/projections/messages.ts';
import { type ModelMessage } from '../../../../src/core/ports/modelMessages.ts';
import { type ModelPart } from '../../../../src/core/ports/ports.ts';
import { createGuideModel } from '../../../../src/models/guide/guide.ts';
import { textOf } from '../../../../src/models/guide/guidePlan.ts';
import { SUGGESTIONS } from '../../../../src/models/guide/guideSpeech.ts';

const guide = createGuideModel({ wordMilliseconds: 0 });
const block = (text: string) => ({ format: 'xml', text }) as const;

interface Spoken {
  readonly text: string;
  readonly calls: readonly (readonly [string, unknown])[];
  readonly parts: readonly ModelPart[];
}

async function answer(messages: readonly ModelMessage[], tools: readonly string[] = []): Promise<Spoken> {
  const parts: ModelPart[] = [];
  const offered = tools.map((name) => ({ name, description: '', parameters: {} }));
  const { signal } = new AbortController();
  for await (const part of guide.stream({ system: '', messages, tools: offered }, signal)) parts.push(part);
  return {
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    calls: parts.flatMap((part) =>
      part.type === 'tool_call' ? [[part.name, JSON.parse(part.arguments)] as const] : [],
    ),
    parts,
  };
}

/** The messages with the request, then a result for each call so far. */
function after(request: string, ...results: (string | { content: string; block: string })[]): ModelMessage[] {
  const messages = results.map((result, index): ModelMessage => {
    const call = `c${index}`;
    if (typeof result === 'string') return { role: 'tool', call, content: result };
    return { role: 'tool', call, content: result.content, block: block(result.block) };
  });
  return [{ role: 'user', content: request }, ...messages];
}

/** Gives each call the result that a rule has for it, until there are no more calls. */
async function follow(
  request: string,
  result: (tool: string, args: Readonly<Record<string, unknown>>) => string,
): Promise<{ calls: string[]; text: string; all: string }> {
  const messages = after(request);
  const calls: string[] = [];
  let all = '';
  for (;;) {
    const spoken = await answer(messages);
    all += `${spoken.text}\n`;
    const [call] = spoken.calls;
    if (call === undefined) return { calls, text: spoken.text, all };
    const [tool, args] = call as [string, Record<string, unknown>];
    calls.push(`${tool} ${JSON.stringify(args)}`);
    if (calls.length > 40) throw new Error('the Guide does not stop calling tools');
    messages.push({ role: 'tool', call: `c${calls.length}`, content: result(tool, args) });
  }
}

describe('requests', () => {
  test.each([
    ['read src/a.ts', 'read_file', { path: 'src/a.ts' }],
    ['Please read the file "a b.ts".', 'read_file', { path: 'a b.ts' }],
    ['show README.md.', 'read_file', { path: 'README.md' }],
    ['list the files', 'list_files', {}],
    ['list files in src', 'list_files', { path: 'src' }],
    ['search "a b" in src', 'search', { query: 'a b', path: 'src' }],
    ['search for TODO', 'search', { query: 'TODO' }],
    ['run npm test', 'run_command', { command: 'npm test' }],
    ['run echo a; echo b', 'run_command', { command: 'echo a; echo b' }],
    [
      'run npm run watch in the background',
      'run_command',
      { command: 'npm run watch', background: true, handle: 'watch' },
    ],
    ['start `tsc -w` in background as types', 'run_command', { command: 'tsc -w', background: true, handle: 'types' }],
    ['run task npm: build', 'run_task', { name: 'npm: build' }],
    ['run the check task', 'run_task', { name: 'check' }],
    ['replace "a" with "b" in x.ts', 'edit_file', { path: 'x.ts', edits: [{ old_text: 'a', new_text: 'b' }] }],
    ["in x.ts, change 'a' to ''", 'edit_file', { path: 'x.ts', edits: [{ old_text: 'a', new_text: '' }] }],
    ['create notes.txt with "Hello"', 'write_file', { path: 'notes.txt', content: 'Hello\n' }],
    ['watch src', 'watch', { add: ['src/**'] }],
    ['watch src/**/*.ts', 'watch', { add: ['src/**/*.ts'] }],
    ['stop watching src/**', 'watch', { remove: ['src/**'] }],
    ['show the problems in src/a.ts', 'diagnostics', { path: 'src/a.ts' }],
    ['errors', 'diagnostics', {}],
    ['fix the problems', 'diagnostics', { severity: 'error' }],
    ['fix src/a.ts', 'quick_fix', { path: 'src/a.ts' }],
    ['what happened?', 'read_notifications', {}],
    ['output of watch', 'handle', { action: 'fetch', name: 'watch' }],
    ['stop watch', 'handle', { action: 'abort', name: 'watch' }],
    ['wait for build', 'await', { any: ['build'] }],
    [
      'ask me which tea: assam, sencha or rooibos',
      'ask_user',
      { question: 'which tea', options: ['assam', 'sencha', 'rooibos'] },
    ],
    ['tour', 'list_files', {}],
  ])('%s', async (request, tool, args) => {
    expect((await answer(after(request))).calls).toEqual([[tool, args]]);
  });

  test.each(SUGGESTIONS.map(([text]) => text))('the suggestion is understood: %s', async (text) => {
    expect((await answer(after(text))).calls).toHaveLength(1);
  });

  test.each(['make me a sandwich', 'read a.ts then dance', ''])(
    '%s: an honest introduction, and no call',
    async (request) => {
      const { text, calls, parts } = await answer(after(request));
      expect(text).toContain('no AI');
      expect(calls).toEqual([]);
      expect(parts.at(-1)).toEqual({ type: 'finished' });
    },
  );
});

describe('a plan', () => {
  test('runs its steps in order, with unique call ids', async () => {
    const first = await answer(after('read a.ts then run npm test'));
    const second = await answer(after('read a.ts then run npm test', 'text'));
    expect([first.calls[0]?.[0], second.calls[0]?.[0]]).toEqual(['read_file', 'run_command']);
    const ids = [first, second].map(({ parts }) => parts.find((part) => part.type === 'tool_call')?.id);
    expect(new Set(ids).size).toBe(2);
    const last = await answer(after('read a.ts then run npm test', 'text', 'boom\n(exit code 2)'));
    expect(last.calls).toEqual([]);
    expect(last.text).toContain('Failed with exit code 2');
  });

  test('ends when the user rejects a call', async () => {
    const { text, calls } = await answer(after('run a then run b', 'The user rejected this call: no reason given.'));
    expect(calls).toEqual([]);
    expect(text).toBe('You did not want that, so I stop here.');
    const why = await answer(after('run a then run b', 'The user rejected this call: not today.'));
    expect(why.text).toBe('You did not want that (“not today”), so I stop here.');
  });

  test('does not call missing tools', async () => {
    const { text, calls } = await answer(after('run npm test'), ['read_file']);
    expect(calls).toEqual([]);
    expect(text).toContain('`run_command`, which is not available in this mode');
  });

  test('continues with what the user wrote meanwhile', async () => {
    const wrote =
      '<notifications key="k">\n<user_message at="12:00:00"><![CDATA[\nread b.ts\n]]></user_message>\n</notifications>';
    const { text, calls } = await answer(after('read a.ts', { content: 'text', block: wrote }));
    expect(text).toContain('**You wrote meanwhile:** read b.ts');
    expect(calls).toEqual([['read_file', { path: 'b.ts' }]]);
  });
});

describe('fixing', () => {
  /** A fake editor whose problems each have fixes, and stay until a fix is applied. */
  function editor(problems: Record<string, { line: number; fixes: string[] }[]>) {
    const left = structuredClone(problems);
    return (tool: string, args: Readonly<Record<string, unknown>>): string => {
      const path = textOf(args['path']);
      const there = Object.entries(left).filter(([, list]) => list.length > 0);
      if (tool === 'diagnostics') {
        const count = there.reduce((sum, [, list]) => sum + list.length, 0);
        const lines = there.flatMap(([file, list]) => [
          `${file} (${list.length})`,
          ...list.map(({ line }) => `  line ${line}: error: bad`),
        ]);
        return count === 0
          ? 'No problem is reported in the workspace.'
          : [`${count} problems in ${there.length} files, ${count} of them errors:`, ...lines].join('\n');
      }
      if (tool === 'list_files') return `${Object.keys(problems).join('\n')}\nlogo.png\nsrc/`;
      if (tool !== 'quick_fix') return '(exit code 0, 1.0 s)';
      const of = left[path] ?? [];
      if (args['title'] === undefined) {
        if (of.length === 0) return `No problem is reported in ${path}.`;
        const lines = of.flatMap(({ line, fixes }) => [
          `line ${line}: error ts 1: bad`,
          ...(fixes.length === 0 ? ['  (no fix is offered)'] : fixes.map((fix) => `  - ${fix}`)),
        ]);
        return [`What the editor offers for ${path}:`, ...lines].join('\n');
      }
      const useless = textOf(args['title']).startsWith('useless');
      if (!useless) left[path] = of.filter(({ line }) => line !== args['line']);
      return `Applied “${textOf(args['title'])}” for line ${String(args['line'])} in ${path}:\n@@ -1 +1 @@`;
    };
  }

  test('applies preferred fixes, else the first ones, until none is left, then continues with the next goal', async () => {
    const walk = await follow(
      'fix the problems then run task check',
      editor({
        'a.ts': [
          { line: 3, fixes: ['Add a thing', 'Change it (preferred)'] },
          { line: 9, fixes: ['Import it'] },
        ],
        'b.ts': [{ line: 1, fixes: ['Do (x) so (preferred)'] }],
      }),
    );
    expect(walk.calls).toEqual([
      'diagnostics {"severity":"error"}',
      'quick_fix {"path":"a.ts"}',
      'quick_fix {"path":"a.ts","line":3,"title":"Change it"}',
      'quick_fix {"path":"a.ts"}',
      'quick_fix {"path":"a.ts","line":9,"title":"Import it"}',
      'quick_fix {"path":"a.ts"}',
      'quick_fix {"path":"b.ts"}',
      'quick_fix {"path":"b.ts","line":1,"title":"Do (x) so"}',
      'quick_fix {"path":"b.ts"}',
      'diagnostics {"severity":"error"}',
      'run_task {"name":"check"}',
    ]);
    expect(walk.all).toContain('I applied 3 fixes of the editor');
    expect(walk.all).toContain('No error is reported now.');
    expect(walk.text).toContain('Passed: the task `check`');
  });

  test('reports the remaining problems, tries nothing twice, and ends', async () => {
    const walk = await follow(
      'fix the problems',
      editor({
        'a.ts': [
          { line: 1, fixes: ['useless'] },
          { line: 2, fixes: [] },
        ],
      }),
    );
    expect(walk.calls.filter((call) => call.includes('useless'))).toHaveLength(1);
    expect(walk.text).toContain('What is left needs you, or a model');
    expect(walk.text).toContain('line 2: error');
  });

  test('retries a fix that could not be saved once, and then tries the next one', async () => {
    const offers = editor({
      'a.ts': [
        { line: 1, fixes: ['useless'] },
        { line: 2, fixes: ['Go'] },
      ],
    });
    let saves = 0;
    const walk = await follow('fix the problems', (tool, args) => {
      if (args['title'] === 'Go' && ++saves === 1) return 'a.ts could not be saved.';
      return offers(tool, args);
    });
    expect(walk.calls.filter((call) => call.includes('title'))).toEqual([
      'quick_fix {"path":"a.ts","line":1,"title":"useless"}',
      'quick_fix {"path":"a.ts","line":2,"title":"Go"}',
      'quick_fix {"path":"a.ts","line":2,"title":"Go"}',
    ]);
    expect(walk.all).toContain('That did not work:');
  });

  test('checks all code files if no problem is reported yet', async () => {
    const offers = editor({ 'a.ts': [{ line: 1, fixes: ['Go'] }] });
    let silent = true;
    const walk = await follow('fix everything', (tool, args) => {
      if (tool === 'diagnostics' && silent) return 'No problem is reported in the workspace.';
      if (tool === 'quick_fix') silent = false;
      return offers(tool, args);
    });
    expect(walk.calls.slice(0, 4)).toEqual([
      'diagnostics {"severity":"error"}',
      'list_files {}',
      'quick_fix {"path":"a.ts"}',
      'quick_fix {"path":"a.ts","line":1,"title":"Go"}',
    ]);
    expect(walk.text).toContain('I applied 1 fix of the editor');
  });
});

test('the tour reads a file, asks for a change, and shows the notification', async () => {
  const results: Record<string, string> = {
    list_files: 'README.md\nsrc/\nsrc/a.ts',
    read_file: '# Tea',
    ask_user: 'The user chose: “I have changed and saved it”.',
  };
  const walk = await follow('tour', (tool) => results[tool] ?? '');
  expect(walk.calls.map((call) => call.split(' ')[0])).toEqual(['list_files', 'read_file', 'ask_user']);
  expect(walk.calls[1]).toBe('read_file {"path":"README.md"}');
  expect(walk.text).toContain('That was the tour.');
});

test.each([
  ['was changed, and I was notified', 'README.md changed since you read it.', 'I have changed and saved it'],
  ['I was not notified', undefined, 'I have changed and saved it'],
  ['Skipped.', undefined, 'Skip this'],
  ['was changed, and I was notified', 'README.md changed since you read it.', 'Skip this'],
])('the tour ends with what was observed: %s', async (said, notified, chosen) => {
  const text = `<notifications key="k">\n<notification source="file" name="changed" level="warning"><![CDATA[${notified}]]></notification>\n</notifications>`;
  const result = `The user chose: “${chosen}”.`;
  const asked = notified === undefined ? result : { content: result, block: text };
  const spoken = await answer(after('tour', 'README.md\nsrc/', '# Tea', asked));
  expect(spoken.calls).toEqual([]);
  expect(spoken.text).toContain(said);
  expect(spoken.text.includes('**File changed**: README.md changed')).toBe(notified !== undefined);
});

test('the tour in a folder without files writes one after approval, and continues with it', async () => {
  const asked: Record<string, string> = { ask_user: 'The user chose: “Skip this”.' };
  const walk = await follow('tour', (tool) => asked[tool] ?? 'The folder is empty.');
  expect(walk.calls.map((call) => call.split(' ')[0])).toEqual(['list_files', 'write_file', 'read_file', 'ask_user']);
  expect(walk.calls[2]).toBe('read_file {"path":"earshot-tour.md"}');
  expect(walk.text).toContain('That was the tour.');
});

describe('a notification', () => {
  const changed = [
    '<notifications shown="1" total="3" key="k">',
    '<notification source="file" name="changed" level="warning" origin="filesystem" at="12:00:00"><![CDATA[',
    'a.ts changed on disk since you read it (+1 −0):',
    '@@ -1 +1 @@',
    '+ a ]]]]><![CDATA[> b ``` c',
    ']]></notification>',
    '<more>2 task.ended: read_notifications lists them.</more>',
    '</notifications>',
  ].join('\n');

  test('is reported with the result that delivered it, even if it contains the end of a section and fences', async () => {
    const { text } = await answer(after('run npm test', { content: 'ok\n(exit code 0)', block: changed }));
    expect(text).toContain('I was notified meanwhile:');
    expect(text).toContain('**File changed**: a.ts changed on disk');
    expect(text).toContain('````diff\n@@ -1 +1 @@\n+ a ]]> b ``` c\n````');
    expect(text).toContain('And 2 task.ended');
  });

  test('is reported without an introduction when it wakes the Guide', async () => {
    const { text, calls } = await answer([{ role: 'user', content: SYSTEM_REQUEST, block: block(changed) }]);
    expect(text).toMatch(/^\*\*I was notified meanwhile:/);
    expect(text).not.toContain('no AI');
    expect(calls).toEqual([]);
  });

  test('in another format is shown verbatim', async () => {
    const { text } = await answer([
      { role: 'user', content: 'read a.ts', block: { format: 'markdown', text: '**Warning:** x' } },
    ]);
    expect(text).toContain('**Warning:** x');
  });
});

test('an abort stops the Guide', async () => {
  const abort = new AbortController();
  const parts: ModelPart[] = [];
  for await (const part of guide.stream({ system: '', messages: after('help'), tools: [] }, abort.signal)) {
    parts.push(part);
    abort.abort();
  }
  expect(parts).toHaveLength(1);
});
