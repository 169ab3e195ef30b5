// Conversations of earlier versions: their requests are still printed as they were sent. A missing file is recorded by this
// version; one that is there is never written again, and a request in it that is not exact any more is a request that nobody
// will see again: the log's `sent` must then have what is needed to print it.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { readEvents } from '../../../src/storage/readEvents.ts';
import { endAll } from '../../support/endings.ts';
import { apis, beginSent, image, look, printAllAgain, refuse, schema } from '../../support/walk/sentWalks.ts';

afterEach(endAll);

const FOLDER = join(import.meta.dirname, 'golden/sent');

interface Recorded {
  readonly log: readonly string[];
  /** In base64, by hash. */
  readonly snapshots: Readonly<Record<string, string>>;
}

async function record(api: keyof typeof apis, path: string): Promise<void> {
  const one = await beginSent(api, 'xml');
  one.wire.faults.push(refuse(400, apis[api].refused[0]));
  await one.go('First.', [look, 'Seen.'], { attachments: [image] });
  await one.headless.earshot.choices.choose(one.id, { effort: 'low' });
  const find = ['find_tools', { query: 't30' }] as const;
  await one.go('Second, “quoted”.', [find, ['s__t30', {}], '{"tea":"sencha"}'], { schema });
  const used = new Map<string, string>();
  const { snapshots } = one.headless.ports;
  const log = (await one.headless.events(one.id)).trimEnd().split('\n');
  const remember = async (hash: string) => {
    const bytes = await snapshots.get(hash);
    if (bytes !== undefined) used.set(hash, Buffer.from(bytes).toString('base64'));
    return bytes;
  };
  await printAllAgain([...readEvents(Buffer.from(`${log.join('\n')}\n`)).events], { get: remember });
  await mkdir(FOLDER, { recursive: true });
  await writeFile(path, `${JSON.stringify({ log, snapshots: Object.fromEntries(used) }, null, 1)}\n`);
}

test.each(Object.keys(apis) as (keyof typeof apis)[])(
  '%s: the requests of an old conversation are exact',
  async (api) => {
    const path = join(FOLDER, `${api}.json`);
    if (!existsSync(path)) await record(api, path);
    const { log, snapshots } = JSON.parse(await readFile(path, 'utf8')) as Recorded;
    const { events, damage } = readEvents(Buffer.from(`${log.join('\n')}\n`));
    const get = async (hash: string) => {
      const text = snapshots[hash];
      return text === undefined ? undefined : Buffer.from(text, 'base64');
    };
    const printed = await printAllAgain([...events], { get });
    expect(damage).toEqual([]);
    expect(printed.map(({ isExact }) => isExact)).toEqual([true, true, true, true, true]);
  },
);
