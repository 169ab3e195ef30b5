// A bug report about a request: secrets and the key are masked also inside JSON texts, paths are relative, fences are safe.
import { expect, test } from 'vitest';
import { writeBugReport } from '../../../../src/core/knowledge/bugReport.ts';
import { type LogEvent } from '../../../../src/protocol/event.ts';

const KEY = 'k3yk3yk3yk3y';
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;

test('secrets, the key and absolute paths are in no part of the report, and the lines around the request are', () => {
  const events = Array.from({ length: 40 }, (_, index) => ({
    ...{ v: 1, seq: index + 1, event_id: `e${index + 1}`, timestamp: '2026-01-02T03:04:05.000Z' },
    ...{ type: 'chat_request', source: 'user', content: `line ${index + 1}\nGITHUB_TOKEN=${TOKEN}\n/home/me/work/tea` },
  })) as unknown as readonly LogEvent[];
  const body = JSON.stringify({
    messages: [{ role: 'user', content: `a\nGITHUB_TOKEN=${TOKEN}\nkey="${KEY}" \`\`\`` }],
  });
  const report = writeBugReport({
    ...{
      version: '1.0.0',
      host: '1.100.0 linux x64',
      about: ['Request 3 of 7', 'in /home/me/work'],
      body,
      events,
      seq: 30,
      key: KEY,
    },
    places: [
      ['/home/me/work', '.'],
      ['/home/me', '~'],
    ],
  });
  expect(report).not.toContain(TOKEN);
  expect(report).not.toContain(KEY);
  expect(report).not.toContain('/home/me');
  expect(report).toContain('- in .');
  expect(report).toContain('./tea');
  expect(report).toContain('````json\n');
  expect(report).toContain('"line 30\\n');
  expect(report).toContain('"line 35\\n');
  expect(report).not.toContain('"line 36\\n');
  expect(report).not.toContain('"line 9\\n');
});

test('a path is made relative only as a whole, not as the beginning of a longer name', () => {
  const about = [
    'cat /home/me/work2/a, /home/me/work-old and /home/me/work.bak',
    'in /home/me/work, (/home/me/work), /home/me/work/a and /home/me.',
    'file:///home/me/work/a, HOME=/home/me, /mnt/home/me/work and /home/meier',
  ];
  const report = writeBugReport({
    ...{ version: '1', host: 'x', about, body: '{}', events: [], seq: 1, key: '' },
    places: [
      ['/home/me/work', '.'],
      ['/home/me', '~'],
    ],
  });
  const lines = report.split('\n').filter((line) => /cat|in|file/.test(line));
  expect(lines).toEqual([
    '- cat ~/work2/a, ~/work-old and ~/work.bak',
    '- in ., (.), ./a and ~.',
    '- file://./a, HOME=~, /mnt/home/me/work and /home/meier',
  ]);
});
