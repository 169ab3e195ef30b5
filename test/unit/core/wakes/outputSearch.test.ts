// Conditions on output: no line is lost, however it is read, cut or kept, and what was not searched is unknown.
import { expect, test } from 'vitest';
import { type Handle } from '../../../../src/core/ports/handles.ts';
import { type FactDeps, anchorOf, followFact } from '../../../../src/core/wakes/facts.ts';
import { createManualClock } from '../../../support/manualClock.ts';

/** A command whose output is what the test says, and is read in pieces of at most `most` bytes. */
class Command {
  readonly clock = createManualClock();
  run = 'call_1';
  bytes = new Uint8Array();
  /** How much of it can be read; what is before `kept` is gone. */
  size = 0;
  kept = 0;
  most = Number.POSITIVE_INFINITY;
  hasEnded = false;
  failing = false;
  changes = 0;

  print(text: string): void {
    this.bytes = new TextEncoder().encode(text);
    this.size = this.bytes.length;
  }

  get deps(): FactDeps {
    const read = async (wanted: number, limit: number) => {
      if (this.failing) throw new Error('the disk is busy');
      const from = Math.max(wanted, this.kept);
      return { from, bytes: this.bytes.slice(from, Math.min(this.size, from + Math.min(limit, this.most))) };
    };
    const list = () => {
      const end = this.hasEnded ? { cause: 'exited', code: 0, signal: null, milliseconds: 1000 } : undefined;
      const process = {
        read,
        status: { size: this.size, kept: this.kept, startedAt: '2026-01-01T00:00:00.000Z', end },
      };
      const known = {
        conversation: 'c',
        name: 'server',
        run: this.run,
        state: this.hasEnded ? 'stopped' : 'running',
        hasEnded: this.hasEnded,
      };
      return [{ ...known, milliseconds: 1000, process } as unknown as Handle];
    };
    return { clock: this.clock, handles: { list, onDidChange: () => ({ dispose: () => undefined }) } as never };
  }

  follow(has: string, anchor: string | undefined = '0') {
    const changed = () => (this.changes += 1);
    const source = followFact(this.deps, { output: 'server', has }, { conversation: 'c', anchor, changed });
    return { read: async () => source?.read(), dispose: () => source?.dispose() };
  }
}

const LINE = '\u001b[1mTee \u001b[32m🍵 ist\u001b[0m fertig\u001b[0m: ü 3 s';
const OUTPUT = `kocht…\n\u001b]0;Küche\u0007${LINE}\nnichts\n`;

test('a line is found wherever its output is cut between two reads', async () => {
  const missed: number[] = [];
  for (let cut = 0; cut <= new TextEncoder().encode(OUTPUT).length; cut += 1) {
    const command = new Command();
    command.print(OUTPUT);
    const { size } = command;
    command.size = cut;
    const source = command.follow('tee 🍵 IST fertig: Ü');
    await source.read();
    command.size = size;
    const fact = await source.read();
    if (fact?.truth === 'yes') expect(fact.evidence).toBe('printed “Tee 🍵 ist fertig: ü 3 s”');
    else missed.push(cut);
    source.dispose();
  }
  expect(missed).toEqual([]);
});

test.each([1, 2, 3, 7, 64])('a line is found if at most %i bytes can be read at a time', async (most) => {
  const command = new Command();
  command.most = most;
  command.print(OUTPUT);
  expect(await command.follow('fertig: ü 3').read()).toMatchObject({ truth: 'yes', latches: true });
});

test('what could not be read once is searched at the next look', async () => {
  const command = new Command();
  command.print(OUTPUT);
  const source = command.follow('fertig');
  command.failing = true;
  await expect(source.read()).rejects.toThrow('busy');
  command.failing = false;
  expect(await source.read()).toMatchObject({ truth: 'yes' });
  // Until it is in the log it holds again and again.
  expect(await source.read()).toMatchObject({ truth: 'yes' });
});

test('more output than fits into memory is searched to its beginning', async () => {
  const command = new Command();
  command.print(`ready\n${'x'.repeat(99)}\n`.padEnd(6 * 1024 * 1024, `${'y'.repeat(99)}\n`));
  expect(await command.follow('ready').read()).toMatchObject({ truth: 'yes', evidence: 'printed “ready”' });
});

test('after the end, bytes that were gone before they were searched leave the answer unknown', async () => {
  const command = new Command();
  command.print('ready\nother\nmore\n');
  command.kept = 6;
  command.hasEnded = true;
  const gone = 'ended with exit code 0 after 1 s without printing it; 6 bytes were not searched';
  expect(await command.follow('ready').read()).toEqual({ truth: 'unknown', evidence: gone });
  expect(await command.follow('more').read()).toMatchObject({ truth: 'yes' });
  command.kept = 0;
  expect(await command.follow('steady').read()).toMatchObject({ truth: 'never' });
});

test('a command that gets the name of an ended one counts from its beginning', async () => {
  const command = new Command();
  command.print('a long output of the first command\n');
  const source = command.follow('ready', await anchorOf(command.deps, { output: 'server', has: 'ready' }, 'c'));
  expect(await source.read()).toMatchObject({ truth: 'no' });
  command.run = 'call_2';
  command.print('ready\n');
  expect(await source.read()).toMatchObject({ truth: 'yes' });
});

test('a line without an end is searched once, a second after it was printed', async () => {
  const command = new Command();
  command.print('Continue? ');
  const source = command.follow('/^continue\\?/i');
  expect(await source.read()).toMatchObject({ truth: 'no' });
  command.clock.advance(999);
  expect(command.changes).toBe(0);
  command.clock.advance(1);
  expect(command.changes).toBe(1);
  expect(await source.read()).toMatchObject({ truth: 'yes', evidence: 'printed “Continue?”' });
  const other = command.follow('never');
  await other.read();
  command.clock.advance(1000);
  await other.read();
  command.clock.advance(10_000);
  // It is not searched again and again.
  expect(command.changes).toBe(2);
});
