// The environment of the conformance cases: the real host, over any transport, with or without the editor.
import * as assert from 'node:assert/strict';
import { type Earshot } from '../../../../src/core/earshot.ts';
import { type HostMessage, type HostMessageOf } from '../../../../src/protocol/plugin.ts';
import { type RawPlugin } from '../rawPlugin.ts';
import { type StagedAnswer } from '../stagedModel.ts';

export interface ConformanceWorld {
  readonly earshot: Earshot;
  /** Creates an empty conversation. */
  conversation(): Promise<string>;
  /** Starts a plugin and waits for its `init`. */
  plugin(program?: {
    readonly approve?: boolean;
    readonly options?: Record<string, unknown>;
    readonly name?: string;
  }): Promise<RawPlugin>;
  script(...answers: readonly StagedAnswer[]): void;
  release(): void;
  /** Everything that plugins printed or logged, and how they ended; absent where it cannot be read. */
  readonly output?: readonly string[];
}

export interface ConformanceCase {
  /** The rule of WIRE A, in short. */
  readonly title: string;
  run(world: ConformanceWorld): Promise<void>;
}

/** Asserts that every field of `expected` is in `actual` with the same value. */
export function includes(actual: unknown, expected: object): void {
  assert.partialDeepStrictEqual(actual, expected);
}

export function isError(
  message: HostMessage,
  request: string,
  text: RegExp,
): asserts message is HostMessageOf<'error'> {
  includes(message, { type: 'error', request });
  assert.match((message as HostMessageOf<'error'>).message, text);
}

/** A conversation, and a plugin that is subscribed to it as `s`. */
export async function subscribed(
  world: ConformanceWorld,
  program: Parameters<ConformanceWorld['plugin']>[0] = {},
  more: object = {},
): Promise<{ readonly id: string; readonly plugin: RawPlugin }> {
  const id = await world.conversation();
  const plugin = await world.plugin(program);
  includes(await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id, ...more }), { type: 'subscribed' });
  return { id, plugin };
}

/** The number of the last event of a live conversation. */
export function lastSeq(world: ConformanceWorld, id: string): number {
  return world.earshot.get(id)?.log.state.turn.lastSeq ?? 0;
}

export function complete(plugin: RawPlugin): Promise<HostMessageOf<'event'>> {
  return plugin.event(({ data }) => data.type === 'query_complete');
}

export function logged(plugin: RawPlugin, type: string): Promise<HostMessageOf<'event'>> {
  return plugin.event(({ data, seq }) => data.type === type && seq !== undefined);
}

export function interactive(plugin: RawPlugin): Promise<HostMessageOf<'event'>> {
  return plugin.event(({ respond }) => respond !== undefined);
}

export function resolved(plugin: RawPlugin): Promise<HostMessageOf<'event'>> {
  return plugin.event(({ data }) => data.type === 'resolved');
}

/** An answer that calls a command which needs approval. */
export function command(text: string, id = 'call-1'): StagedAnswer {
  return { calls: [{ id, name: 'run_command', arguments: { command: text } }] };
}

export function question(more: object = {}, id = 'call-1'): StagedAnswer {
  return { calls: [{ id, name: 'ask_user', arguments: { question: 'Which file?', ...more } }] };
}
