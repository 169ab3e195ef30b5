// Texts about the server that joins machines: what has not reached the others, why, and what to do.
import { expect, test } from 'vitest';
import { type LinkHealth } from '../../../../src/protocol/hub.ts';
import { linkIcon, linkLines, linkObstacles, stateRows, type Translate } from '../../../../src/vscode/hub/linkTexts.ts';

const t: Translate = (text, ...values) => text.replaceAll(/\{(\d)\}/g, (_, index) => String(values[Number(index)]));

function link(
  server: Partial<LinkHealth['server']> & Pick<LinkHealth['server'], 'state'>,
  notSent = 0,
  full = false,
): LinkHealth {
  return { server: { since: '2026-11-17T10:00:00Z', ...server }, not_sent: notSent, stream_full: full };
}

const unreachable = link(
  { state: 'connecting', error: 'the server cannot be reached (connection refused). Earshot retries automatically.' },
  3,
);
const refused = link({ state: 'refused', error: 'the server refuses the credentials. Correct them.' }, 1);

test('a hub that is not joined and one whose messages are delivered show no warning', () => {
  expect([linkIcon(undefined), linkLines(undefined, t), linkObstacles(undefined, t)]).toEqual([undefined, [], []]);
  const fine = link({ state: 'connected' }, 2);
  expect([linkIcon(fine), linkObstacles(fine, t)]).toEqual([undefined, []]);
  expect(linkLines(fine, t)).toEqual(['Joined with the agents of other machines.']);
});

test('without the server the status bar and the chat say how many messages have not reached others, why, and what happens next', () => {
  expect(linkIcon(unreachable)).toBe('$(debug-disconnect)');
  expect(linkLines(unreachable, t)).toEqual([
    'Not connected with other machines.',
    '3 messages have not reached other machines yet.',
  ]);
  expect(linkObstacles(unreachable, t)).toMatchObject([
    {
      level: 'info',
      text: 'Not connected with other machines. 3 messages have not reached other machines yet. The server cannot be reached (connection refused).',
      nextStep: 'Earshot retries automatically.',
    },
  ]);
  // No message is unsent, so the chat shows nothing.
  expect(linkObstacles({ ...unreachable, not_sent: 0 }, t)).toEqual([]);
});

test('a problem that the user must correct is a warning with the next step, even if no message is unsent', () => {
  expect(linkIcon(refused)).toBe('$(warning)');
  expect(linkLines(refused, t)).toContain('1 message has not reached other machines yet.');
  expect(linkObstacles({ ...refused, not_sent: 0 }, t)).toMatchObject([
    {
      level: 'warning',
      text: 'The server that joins machines is not used. The server refuses the credentials.',
      nextStep: 'Correct them.',
      action: { message: { type: 'open_settings' } },
    },
  ]);
});

test('a full stream is a warning that says who can help', () => {
  const [obstacle] = linkObstacles(link({ state: 'connected' }, 7, true), t);
  expect(obstacle?.text).toBe(
    'The server that joins machines is full. 7 messages have not reached other machines yet.',
  );
  expect(obstacle?.nextStep).toContain('--max-bytes');
});

test('the rows of the hub’s state: the serving window, the server, unsent messages, a wrong clock, and agents by machine', () => {
  const seen = { last_seen_at: '2026-11-17T10:00:00Z', display: '', role: '', module: '' };
  const agents = [
    { agent_id: 'birch', machine: 'beta', live: false, ...seen },
    { agent_id: 'amber', live: true, ...seen, display: 'Fix the build' },
  ];
  const state = { messages: 12, pid: 7, agents, link: link({ state: 'connected', clock_ahead_ms: -3_600_000 }) };
  const rows = stateRows(state, 7, t);
  expect(rows.map(({ label }) => label)).toEqual([
    '$(server) This window runs the hub',
    '$(cloud) Joined with the agents of other machines.',
    '$(arrow-up) Everything has reached the server.',
    '$(watch) The clock of this machine is 60 min behind the server’s',
    '$(person) amber',
    '$(person) birch',
    '$(output) Show log',
  ]);
  expect(rows[0]?.description).toBe('2 agents · 12 messages');
  expect(rows[4]).toMatchObject({ description: 'this machine · connected', detail: 'Fix the build' });
  expect(rows[5]?.description).toContain('beta · last seen');
  const others = stateRows({ ...state, link: unreachable }, 8, t);
  expect(others[0]?.label).toBe('$(server) The hub runs in process 7');
  expect(others[1]).toMatchObject({
    label: '$(debug-disconnect) Not connected with other machines.',
    opens: 'settings',
  });
  expect(others[1]?.detail).toContain('connection refused');
  expect(others[2]?.label).toBe('$(arrow-up) 3 messages have not reached other machines yet.');
  expect(stateRows({ ...state, link: undefined }, 7, t)[1]).toMatchObject({
    label: '$(circle-slash) Not joined with other machines',
    opens: 'settings',
  });
});
