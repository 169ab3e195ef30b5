// Helpers for walks about delivery: notifications to publish, commands that end on demand, and events to wait for.
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type ApprovalAnswer } from '../../../src/core/ports/ports.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type NotificationDraft } from '../../../src/protocol/notification.ts';
import { scopeOf } from '../../../src/protocol/scopes.ts';
import { type ScriptedAnswer } from '../models/scriptedServer.ts';
import { type Walked } from './walking.ts';

export const done: ScriptedAnswer = { text: ['Done.'] };

export function run(id: string, command: string) {
  return { id, name: 'run_command', arguments: { command } };
}

/** A notification for every live conversation. */
export function headChanged(message: string, more: Partial<NotificationDraft> = {}): NotificationDraft {
  const at = '2026-01-01T00:00:01.000Z';
  const kind = { source: 'git', name: 'head_changed' };
  return { kind, level: 'warning', message, origin: 'filesystem', at, ...more };
}

/** A notification that a handle of this conversation has ended. */
export function handleEnded(
  { id }: Pick<Walked, 'id'>,
  name: string,
  how: 'stopped' | 'failed' | 'waiting' = 'stopped',
) {
  const level = { stopped: 'info', failed: 'error', waiting: 'warning' } as const;
  return headChanged(`${name} ${how}.`, {
    kind: { source: 'tool', name: how },
    level: level[how],
    origin: 'process',
    subject: `handle:${name}`,
    scopes: [scopeOf('conversation', id)],
  });
}

export async function publish({ headless }: Walked, ...drafts: readonly NotificationDraft[]): Promise<void> {
  for (const draft of drafts) await headless.earshot.publish(draft);
}

/** A command that reads from this pipe ends when `end` is called. */
export function makePipe({ headless }: Walked, name: string): { end(text?: string): Promise<void> } {
  const path = join(headless.folder, name);
  execFileSync('mkfifo', [path]);
  return { end: (text = 'read\n') => writeFile(path, text) };
}

/** Resolves with the next event of this type. */
export function nextEvent<T extends LogEvent['type']>(
  log: Walked['log'],
  type: T,
  matches: (event: Extract<LogEvent, { type: T }>) => boolean = () => true,
): Promise<Extract<LogEvent, { type: T }>> {
  return new Promise((resolve) => {
    const listening = log.onDidAppend(({ event }) => {
      const found = event as Extract<LogEvent, { type: T }>;
      if (event.type !== type || !matches(found)) return;
      listening.dispose();
      resolve(found);
    });
  });
}

export async function eventsOf<T extends LogEvent['type']>({ headless, id }: Walked, type: T) {
  const lines = (await headless.events(id)).trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as LogEvent);
  return events.filter((event): event is Extract<LogEvent, { type: T }> => event.type === type);
}

/** The outcomes of the model calls made by turns, without those for titles. */
export async function callOutcomes(walk: Walked): Promise<string[]> {
  const calls = await eventsOf(walk, 'model_call');
  return calls.flatMap(({ outcome, purpose }) => (purpose === undefined ? [outcome] : []));
}

/** Resolves once an answer with this text was rendered, before or after the call. */
export async function streamed({ headless: { frontend } }: Walked, text = ''): Promise<void> {
  const isThere = () => frontend.drawn.some((drawn) => drawn.type === 'answer_text' && drawn.text.includes(text));
  while (!isThere()) await frontend.nextDrawn('answer_text');
}

/** Leaves approvals open; resolves with a function that answers the first. */
export function holdApproval({ headless }: Walked): Promise<(answer: Omit<ApprovalAnswer, 'by'>) => void> {
  return new Promise((asked) => {
    headless.frontend.answer = (_request, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true });
        asked((answer) => resolve({ ...answer, by: 'user' }));
      });
  });
}

/** Leaves questions open; resolves with a function that answers the first. */
export function holdQuestion({ headless }: Walked): Promise<(answer: string) => void> {
  return new Promise((asked) => {
    headless.frontend.answerQuestion = (_request, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true });
        asked((answer) => resolve({ answer, by: 'user' }));
      });
  });
}

/** Starts a turn without waiting for its end. */
export async function begin({ headless, id }: Walked, text = 'Hello.'): Promise<void> {
  expect(await headless.earshot.send(id, text)).toMatchObject({ ok: true });
}

/** How often a text occurs in the body of a request. */
export function occurrences({ server }: Walked, request: number, text: string): number {
  return (server.requests[request]?.body ?? '').split(JSON.stringify(text).slice(1, -1)).length - 1;
}
