// A day of work with every source on, hour by hour: what the model gets without having asked for it stays small.
import { expect, test } from 'vitest';
import { estimateTokens } from '../../../src/core/conversation/tokens.ts';
import { type Notification } from '../../../src/protocol/notification.ts';
import { type DayPlan, dayEars } from '../../noise/dayEars.ts';
import { playHour } from '../../noise/playHour.ts';
import { elementsIn, shownIn, tokensIn } from '../../noise/table.ts';

/** On average over the day. */
const MOST = 400;

interface HourPlan {
  readonly what: string;
  /** Minutes between the user's messages. */
  readonly writes: number;
  /** The facts that the editor recorded in an hour of work. */
  readonly isRecorded?: true;
  /** Where the user is. */
  readonly looks: DayPlan;
  readonly plan: DayPlan;
}

const FILES = ['src/orders.ts', 'src/menu.ts', 'src/prices.ts', 'src/receipt.ts', 'README.md', 'src/stock.ts'];
/** Elsewhere at each message. */
const around: DayPlan = FILES.map((path, index) => [index * 10 + 5, (day) => day.looksAt(path)]);

const DAY: readonly HourPlan[] = [
  {
    what: 'reads what came overnight',
    writes: 20,
    looks: [[1, (day) => day.looksAt('README.md')]],
    plan: [
      [2, (day) => day.ciPasses()],
      [
        3,
        (day) =>
          day.reviews(
            ['ada', 'Could this be one loop? It goes over the lines three times.'],
            ['bob', 'Looks good otherwise.'],
          ),
      ],
      [30, (day) => day.installs({ cup: '1.1.0', kettle: '2.0.0', spoon: '3.0.0' })],
    ],
  },
  {
    what: 'the recorded hour, with a dev server',
    writes: 10,
    isRecorded: true,
    looks: around,
    plan: [
      [3, (day) => day.startsServer()],
      [16, (day) => day.buildFails('src/prices.ts', 'Type error: number is not a string')],
      [24, (day) => day.buildWorks()],
      [40, (day) => day.tests(['orders 3'])],
      [44, (day) => day.tests([])],
    ],
  },
  {
    what: 'debugs',
    writes: 10,
    looks: around,
    plan: [
      ...[4, 12, 18, 33, 41].map((minute): DayPlan[number] => [minute, (day) => day.breakpoint(12)]),
      ...[5, 13, 34, 42].map((minute): DayPlan[number] => [minute, (day) => day.goesOn()]),
      [20, (day) => day.goesOn()],
      [22, (day) => day.exception('TypeError: total is not a function')],
      [24, (day) => day.programFails()],
      [46, (day) => day.exception('RangeError: no such line')],
      [48, (day) => day.programFails()],
    ],
  },
  {
    what: 'a meeting: CI and a reviewer go on',
    writes: 60,
    looks: [],
    plan: [
      [10, (day) => day.ciFails()],
      [35, (day) => day.reviews(['ada', 'The test fails on Linux.'])],
    ],
  },
  {
    what: 'lunch: a nightly script reports',
    writes: 60,
    looks: [],
    plan: [
      [20, (day) => day.script('staging deployed')],
      [40, (day) => day.mcpEvent('evt_1', { number: 12, title: 'Broken' })],
    ],
  },
  {
    what: 'the recorded hour again, in another conversation, with its tests',
    writes: 10,
    isRecorded: true,
    looks: around,
    plan: [
      [12, (day) => day.tests(['orders 1', 'orders 2'])],
      [21, (day) => day.tests([])],
      [35, (day) => day.ciPasses()],
      [50, (day) => day.mcpEvent('evt_2', { number: 13, title: 'Slow' })],
    ],
  },
  {
    what: 'works in a notebook',
    writes: 10,
    looks: around,
    plan: [
      [7, (day) => day.cell("'total'")],
      [8, (day) => day.cell()],
      [15, (day) => day.cell("'sum of lines'")],
      [26, (day) => day.cell()],
      [44, (day) => day.cell("'total'")],
    ],
  },
  {
    what: 'tests until they pass, and goes home',
    writes: 20,
    looks: [[1, (day) => day.looksAt('test/orders.test.js')]],
    plan: [
      ...[3, 9, 14, 22, 31].map((minute, index): DayPlan[number] => [minute, (day) => day.tests([`orders ${index}`])]),
      [38, (day) => day.tests([])],
      [45, (day) => day.ciPasses()],
      [50, (day) => day.script('production deployed')],
    ],
  },
];

/** Of these the conversation asked to be notified. */
const isAskedFor = ({ kind }: Notification) => kind.source === 'mcp' && kind.name === 'event';

test(`services, scripts and what runs cost at most ${MOST} tokens an hour of a day, without what was asked for`, async () => {
  const rows: string[] = [];
  const kinds = new Set<string>();
  let [all, added] = [0, 0];
  for (const { what, writes, isRecorded, looks, plan } of DAY) {
    const options = { minutes: writes, ...(isRecorded !== true && { recorded: [] }) };
    const { events, errors } = await playHour({ ...options, ears: await dayEars([...looks, ...plan]) });
    const without = await playHour({ ...options, ears: await dayEars(looks) });
    expect([errors, without.errors]).toEqual([[], []]);
    const shown = shownIn(events);
    for (const { kind } of shown) kinds.add(`${kind.source}.${kind.name}`);
    const asked = shown.filter(isAskedFor).reduce((sum, { message }) => sum + estimateTokens(message), 0);
    const tokens = tokensIn(events);
    const more = tokens - tokensIn(without.events) - asked;
    all += tokens;
    added += more;
    rows.push(`${tokens} tokens in ${elementsIn(events)} notifications, ${more} of these sources | ${what}`);
  }
  const each = (sum: number) => Math.round(sum / DAY.length);
  const head = `${each(added)} tokens an hour of these sources, ${each(all)} with those of the editor and what was asked for.`;
  const table = [head, '', ...rows, '', 'Kinds:', ...[...kinds].sort(), ''].join('\n');
  await expect(table).toMatchFileSnapshot('day.golden.txt');
  expect(added / DAY.length).toBeLessThanOrEqual(MOST);
}, 120_000);
