// Measures the chat page alone in a browser: a streamed answer of 100 KB, a long conversation, and ten conversations.
import { type CDPSession, type Page } from 'playwright-core';
import { type TranscriptItem } from '../../src/protocol/transcript.ts';
import { launchChromium } from '../host/editor/browser.ts';
import { build } from '../host/packaging/build.ts';
import { runToExit } from '../host/processes/lifetime.mjs';
import { PageAlone } from '../support/page/chatPage.ts';

const ROUNDS = 5;
const ANSWER = 100_000;
/** Characters of one piece of the stream, and pieces in a frame. */
const [PIECE, PIECES] = [50, 20];
const LONGEST_TASK = 100;

const BLOCKS = [
  '## A heading with `code`\n\nA paragraph with **bold** text, a path src/menu.ts:12:3, a [link](https://example.com) and some more words to wrap it over several lines of a narrow panel.\n\n',
  '- one\n- two with `src/order.ts`\n  - nested\n- three\n\n',
  '```ts\nexport function price(order: Order): number {\n  // A comment.\n  return order.lines.reduce((sum, line) => sum + line.count * menu[line.item], 0);\n}\n```\n\n',
  '| tea | price |\n|---|---|\n| oolong | 280 |\n| assam | 240 |\n\n> A quotation of one line.\n\n',
];

interface Streamed {
  /** Milliseconds in tasks of more than 50 ms, and the longest of them. */
  readonly long: number;
  readonly longest: number;
  /** Milliseconds in all tasks of the page. */
  readonly tasks: number;
}

await runToExit(async () => {
  await build();
  const browser = await launchChromium();
  const newPage = () => browser.newPage({ viewport: { width: 300, height: 700 } });
  const results = [await streaming(newPage), await longConversation(newPage), await tenConversations(newPage)];
  await browser.close();
  return results.every(Boolean) ? 0 : 1;
});

async function streaming(newPage: () => Promise<Page>): Promise<boolean> {
  const rounds: { earshot: Streamed; control: Streamed; twice: Streamed }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const control = await onPage(newPage, streamPlainText);
    const earshot = await onPage(newPage, (page) => streamAnswer(page, ANSWER));
    const twice = await onPage(newPage, (page) => streamAnswer(page, 2 * ANSWER));
    rounds.push({ control, earshot, twice });
  }
  const of = (one: 'earshot' | 'control' | 'twice', what: keyof Streamed) =>
    median(rounds.map((row) => row[one][what]));
  const [long, control] = [of('earshot', 'long'), of('control', 'long')];
  const linear = of('twice', 'tasks') / of('earshot', 'tasks');
  console.log(
    `page: an answer of ${ANSWER / 1000} KB streamed, median of ${ROUNDS}\n  control: appending plain text nodes`,
  );
  return [
    check(`long tasks ${long.toFixed(0)} ms against ${control.toFixed(0)} ms`, '≤ 2 times', long <= 2 * control),
    check(
      `the longest task ${of('earshot', 'longest').toFixed(0)} ms`,
      `≤ ${LONGEST_TASK} ms`,
      of('earshot', 'longest') <= LONGEST_TASK,
    ),
    check(
      `all tasks ${of('earshot', 'tasks').toFixed(0)} ms against ${of('control', 'tasks').toFixed(0)} ms; an answer twice as long costs ${linear.toFixed(2)} times as much`,
      '≤ 2.4 times',
      linear <= 2.4,
    ),
  ].every(Boolean);
}

async function streamAnswer(page: Page, characters: number): Promise<Streamed> {
  const alone = new PageAlone(page);
  await alone.open();
  await alone.show({ title: 'x', running: true }, [{ type: 'request', id: 'r', source: 'user', text: 'Go on.' }]);
  await alone.change({ type: 'item', item: answer('a', '', true) });
  await alone.drawn();
  const result = await streamed(page, () =>
    page.evaluate(pump, { pieces: piecesOf(markdown(characters)), each: PIECES, first: 3 }),
  );
  await page.getByText('The last line.').waitFor();
  return result;
}

async function streamPlainText(page: Page): Promise<Streamed> {
  await page.setContent(
    '<body style="margin:0"><div style="height:700px;overflow:auto;white-space:pre-wrap"></div></body>',
  );
  await page.evaluate(() => {
    const area = document.querySelector('div');
    window.addEventListener('message', (event: MessageEvent<{ changes: { text: string }[] }>) => {
      if (area === null) return;
      for (const { text } of event.data.changes) area.append(text);
      area.scrollTop = area.scrollHeight;
    });
  });
  return streamed(page, () => page.evaluate(pump, { pieces: piecesOf(markdown(ANSWER)), each: PIECES, first: 1 }));
}

/** Runs in the page: posts some pieces in each frame, as the host does, and waits until they are drawn. */
async function pump({
  pieces,
  each,
  first,
}: {
  pieces: readonly string[];
  each: number;
  first: number;
}): Promise<void> {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  let number = first;
  for (let start = 0; start < pieces.length; start += each) {
    for (const text of pieces.slice(start, start + each)) {
      window.postMessage(
        { type: 'delta', number: number++, changes: [{ type: 'text', id: 'a', field: 'text', text }] },
        '*',
      );
    }
    await frame();
  }
  await frame();
  await frame();
}

async function streamed(page: Page, run: () => Promise<void>): Promise<Streamed> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await page.evaluate(() => {
    const found: number[] = [];
    Object.assign(window, { longTasks: found });
    new PerformanceObserver((list) => found.push(...list.getEntries().map(({ duration }) => duration))).observe({
      type: 'longtask',
    });
  });
  const before = await metric(session, 'TaskDuration');
  await run();
  const tasks = ((await metric(session, 'TaskDuration')) - before) * 1000;
  const long = await page.evaluate(() => (window as unknown as { longTasks: number[] }).longTasks);
  return { long: long.reduce((sum, one) => sum + one, 0), longest: Math.max(0, ...long), tasks };
}

async function longConversation(newPage: () => Promise<Page>): Promise<boolean> {
  const opened: number[] = [];
  const scrolled: number[] = [];
  const items = conversation('long', 5000);
  for (let round = 0; round < ROUNDS; round++) {
    await onPage(newPage, async (page) => {
      const alone = new PageAlone(page);
      await alone.open();
      opened.push((await streamed(page, () => alone.show({ conversation: 'long', title: 'x' }, items))).longest);
      const toTop = () =>
        page.evaluate(async () => {
          const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
          const area = document.querySelector('.scroller');
          for (
            let button = document.querySelector<HTMLElement>('.earlier');
            button;
            button = document.querySelector('.earlier')
          ) {
            if (area !== null) area.scrollTop = 0;
            button.click();
            await frame();
            await frame();
          }
        });
      scrolled.push((await streamed(page, toTop)).longest);
      await page.getByText('Request 0 of long.').waitFor();
    });
  }
  console.log(`page: a conversation of 5,000 events opened, and scrolled to its beginning, median of ${ROUNDS}`);
  return [
    check(`the longest task at opening ${median(opened).toFixed(0)} ms`, '≤ 500 ms', median(opened) <= 500),
    check(`the longest task while scrolling ${median(scrolled).toFixed(0)} ms`, '≤ 500 ms', median(scrolled) <= 500),
  ].every(Boolean);
}

async function tenConversations(newPage: () => Promise<Page>): Promise<boolean> {
  const sizes: number[] = [];
  const nodes: number[] = [];
  await onPage(newPage, async (page) => {
    const alone = new PageAlone(page);
    await alone.open();
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    for (let number = 0; number < 11; number++) {
      const id = `c${number}`;
      await alone.show({ conversation: id, title: id }, conversation(id, 400));
      await page.getByText(`Answer 399 of ${id}.`).waitFor();
      await session.send('HeapProfiler.collectGarbage');
      sizes.push((await metric(session, 'JSHeapUsedSize')) / 1e6);
      nodes.push(await metric(session, 'Nodes'));
    }
  });
  // The first one is skipped, since it also loads what is loaded only once.
  const [first = 0, last = 0] = [sizes[1], sizes.at(-1)];
  console.log('page: ten conversations opened one after another');
  return [
    check(
      `memory ${first.toFixed(1)} MB after the first, ${last.toFixed(1)} MB after the tenth`,
      '≤ 1.2 times',
      last <= 1.2 * first,
    ),
    check(
      `nodes ${nodes[1] ?? 0} after the first, ${nodes.at(-1) ?? 0} after the tenth`,
      '≤ 1.2 times',
      (nodes.at(-1) ?? 0) <= 1.2 * (nodes[1] ?? 0),
    ),
  ].every(Boolean);
}

async function onPage<T>(newPage: () => Promise<Page>, use: (page: Page) => Promise<T>): Promise<T> {
  const page = await newPage();
  const result = await use(page);
  await page.close();
  return result;
}

async function metric(session: CDPSession, name: string): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find((one) => one.name === name)?.value ?? Number.NaN;
}

function conversation(name: string, count: number): TranscriptItem[] {
  return Array.from({ length: count }, (_, index): TranscriptItem => {
    if (index % 5 === 0)
      return { type: 'request', id: `${index}`, source: 'user', text: `Request ${index} of ${name}.` };
    if (index % 5 === 4) return answer(`${index}`, `${markdown(600)}\n\nAnswer ${index} of ${name}.`, false);
    const output = 'A line of output, as commands print them.\n'.repeat(20);
    const [tool, args] =
      index % 5 === 1 ? ['run_command', { command: `npm test ${index}` }] : ['read_file', { path: `src/f${index}.ts` }];
    return { type: 'tool', id: `${index}`, name: tool, arguments: args, state: 'done', output };
  });
}

function answer(id: string, text: string, streaming: boolean): TranscriptItem {
  return { type: 'answer', id, text, reasoning: '', streaming, truncated: false };
}

function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; start += PIECE) pieces.push(text.slice(start, start + PIECE));
  return pieces;
}

function markdown(characters: number): string {
  let text = '';
  for (let block = 0; text.length < characters; block++) text += BLOCKS[block % BLOCKS.length] ?? '';
  return `${text}The last line.`;
}

function check(what: string, goal: string, met: boolean): boolean {
  console.log(`  ${what} (goal ${goal}, ${met ? 'met' : 'MISSED'})`);
  return met;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
