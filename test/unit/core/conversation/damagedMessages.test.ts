// Projected messages of damaged logs: a strict endpoint accepts every request.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { forkEvents, forkPoints } from '../../../../src/core/conversation/fork.ts';
import { Projections } from '../../../../src/core/conversation/projections/project.ts';
import { type ChatForm, chatForm, toWireMessages } from '../../../../src/models/chat/chatModel.ts';
import { CAREFUL } from '../../../../src/models/profile.ts';
import {
  type Carried,
  EVENT_VERSION,
  type EventDraft,
  FORMATS,
  type LogEvent,
} from '../../../../src/protocol/event.ts';
import { LineBuffer } from '../../../../src/storage/eventFile.ts';
import { readEvents } from '../../../../src/storage/readEvents.ts';
import {
  call,
  folded,
  numbered,
  request,
  result,
  started,
  succeededCall,
  turnStarted,
} from '../../../support/log/events.ts';
import { refusals } from '../../../support/models/strictEndpoint.ts';
import { runs } from '../../../support/runs.ts';

const forms: readonly (readonly [ChatForm, boolean])[] = [
  [chatForm('https://api.openai.com/v1', 'gpt-5.5'), false],
  [chatForm('https://api.deepseek.com/v1', 'deepseek-v4-pro'), false],
  [chatForm('https://elsewhere.example/v1', 'm'), false],
  [chatForm('https://elsewhere.example/v1', 'm', CAREFUL), true],
];

/** The objections of each kind of endpoint to the next request. */
function refused(state: Projections): string[] {
  const messages = state.messages.all;
  return forms.flatMap(([form, alternating]) =>
    refusals(
      toWireMessages({ system: 'You are.', messages, tools: [], image: async () => undefined }, form),
      alternating,
    ),
  );
}

test('after a lost tool response every call is still followed by its result', () => {
  const carrier = result('a', 4, ['n']);
  const events = numbered(
    started,
    turnStarted,
    request('Go.'),
    call('a'),
    call('b'),
    succeededCall,
    result('b'),
    carrier,
  );
  const damaged = events.filter((event) => !(event.type === 'tool_call_response' && event.id === 'b'));
  expect(refused(folded(damaged))).toEqual([]);
  expect(refused(folded(damaged.filter((event) => !(event.type === 'tool_call_request' && event.id === 'a'))))).toEqual(
    [],
  );
});

test('a result that a restart appends after the carrier follows its call, and changes nothing before it', () => {
  const carrier = (id: string) => result(id, 4, ['n'], { format: 'developer' });
  const events = numbered(
    started,
    turnStarted,
    request('Go.'),
    call('a'),
    call('b'),
    succeededCall,
    result('b'),
    carrier('a'),
  );
  const damaged = events.filter((event) => !(event.type === 'tool_call_response' && event.id === 'b'));
  const state = folded(damaged);
  expect(state.turn.unanswered.map(({ request: open }) => open.id)).toEqual(['b']);
  const sent = structuredClone(state.messages.all);
  const goesOn = folded([...damaged, ...later(damaged, carrier('b'), request('And now?'))]);
  expect(refused(goesOn)).toEqual([]);
  // The carrier was sent with a result in the place of the lost one, and what was sent never changes.
  expect(goesOn.messages.all.slice(0, sent.length)).toEqual(sent);
});

test('a compaction after a lost tool response leaves no result without its call', () => {
  const compaction: EventDraft = { type: 'compaction', summary: 'So far.', through: 6 };
  const events = numbered(started, turnStarted, request('Go.'), call('a'), succeededCall, result('a'), compaction);
  const damaged = events.filter((event) => event.type !== 'tool_call_response');
  expect(refused(folded([...damaged, ...later(damaged, request('And now?'))]))).toEqual([]);
});

function later(events: readonly LogEvent[], ...drafts: EventDraft[]): LogEvent[] {
  const from = (events.at(-1)?.seq ?? 0) + 1;
  return drafts.map((draft, index) => envelop(draft, from + index));
}

function envelop(draft: EventDraft, seq: number): LogEvent {
  const envelope = { v: EVENT_VERSION, seq, event_id: `event-${seq}`, timestamp: '2026-01-02T03:04:05.000Z' } as const;
  return { ...envelope, ...draft };
}

interface Turn {
  readonly cycles: readonly { readonly text: boolean; readonly calls: number; readonly lastFirst: boolean }[];
  readonly format: Carried['format'];
  readonly carries: boolean;
  readonly image: boolean;
  readonly compacts: boolean;
  readonly open: boolean;
}

const turns: fc.Arbitrary<readonly Turn[]> = fc.array(
  fc.record({
    cycles: fc.array(fc.record({ text: fc.boolean(), calls: fc.nat({ max: 3 }), lastFirst: fc.boolean() }), {
      maxLength: 3,
    }),
    format: fc.constantFrom(...FORMATS),
    carries: fc.boolean(),
    image: fc.boolean(),
    compacts: fc.boolean(),
    open: fc.boolean(),
  }),
  { minLength: 1, maxLength: 5 },
);

/** Appends the events that Earshot would write next. */
class Writer {
  readonly events: LogEvent[];
  #state: Projections;
  #seq: number;
  #calls = 0;

  constructor(events: readonly LogEvent[], nextSeq: number) {
    this.events = [...events];
    this.#state = folded(events);
    this.#seq = nextSeq;
  }

  add(draft: EventDraft): void {
    const event = envelop(draft, this.#seq++);
    this.events.push(event);
    this.#state.fold(event);
  }

  /** Answers open calls, as after a restart, and then writes the turns. */
  write(list: readonly Turn[]): void {
    if (this.#state.turn.isOpen) {
      for (const { request: open } of this.#state.turn.unanswered) this.#respond(open.id, list[0]);
      this.add({ type: 'turn_ended', outcome: 'error' });
    }
    for (const [index, turn] of list.entries()) this.#turn(turn, index === list.length - 1);
  }

  #turn(turn: Turn, last: boolean): void {
    this.add(turnStarted);
    this.add({ ...request('Go.'), ...this.#carried(turn) });
    for (const { text, calls, lastFirst } of turn.cycles) {
      if (text || calls === 0) this.add({ type: 'chat_response', message: 'I do.' });
      const ids = Array.from({ length: calls }, () => `call-${this.#seq}-${this.#calls++}`);
      for (const id of ids) this.add(call(id));
      this.add(succeededCall);
      for (const id of lastFirst ? ids.toReversed() : ids) this.#respond(id, turn);
      const through = this.#state.messages.cycleEnd(2);
      if (turn.compacts && through !== undefined) this.add({ type: 'compaction', summary: 'So far.', through });
    }
    if (!turn.open || !last) this.add({ type: 'turn_ended', outcome: 'done' });
  }

  #respond(id: string, turn: Turn | undefined): void {
    const carries = this.#state.turn.unanswered.length === 1 && turn !== undefined;
    this.add({ ...result(id), ...(carries && this.#carried(turn)) });
  }

  #carried({ format, carries, image }: Turn): object {
    if (!carries) return {};
    const attachments = [{ type: 'image' as const, media_type: 'image/png', hash: 'h' }];
    if (image) this.add({ type: 'user_text_queued', content: 'Look.', attachments });
    const user_text = image ? [`event-${this.#seq - 1}`] : [];
    const lists = { user_text, shown: [], merged: [], counted: [], filtered: [] };
    return { notifications: { format, text: '<block>', through: this.#seq - 1, ...lists } };
  }
}

type Damage = (lines: string[], at: number) => void;

const damages: Readonly<Record<string, Damage>> = {
  drop: (lines, at) => void lines.splice(at, 1),
  dropMany: (lines, at) => void lines.splice(at, 3),
  flip: (lines, at) => void lines.splice(at, 1, (lines[at] ?? '').replace('"type"', '"tyqe"')),
  garble: (lines, at) => void lines.splice(at, 1, '\u0000\u0000 nothing of ours'),
  duplicate: (lines, at) => void lines.splice(at, 0, lines[at] ?? ''),
  move: (lines, at) => void lines.push(...lines.splice(at, 2)),
  joinLines: (lines, at) => void lines.splice(at, 2, `${lines[at] ?? ''}${lines[at + 1] ?? ''}`),
};

const spoil = fc.array(fc.record({ how: fc.constantFrom(...Object.keys(damages)), where: fc.nat({ max: 999 }) }), {
  minLength: 1,
  maxLength: 6,
});

/** The events that remain readable after their lines were damaged. */
function damage(events: readonly LogEvent[], list: readonly { how: string; where: number }[]) {
  const buffer = new LineBuffer();
  for (const event of events) buffer.add(event);
  const lines = Buffer.from(buffer.bytes).toString().trimEnd().split('\n');
  for (const { how, where } of list) damages[how]?.(lines, where % Math.max(1, lines.length));
  return readEvents(Buffer.from(lines.map((line) => `${line}\n`).join('')));
}

test('for any log, damage, fork and later events, every request is valid', () => {
  fc.assert(
    fc.property(turns, spoil, turns, spoil, (before, first, after, second) => {
      const writer = new Writer([envelop(started, 1)], 2);
      writer.write(before);
      const once = damage(writer.events, first);
      const goesOn = new Writer([...once.events], once.nextSeq);
      goesOn.write(after);
      const twice = [...damage(goesOn.events, second).events];
      for (const events of [writer.events, [...once.events], goesOn.events, twice]) {
        const state = new Projections();
        for (const event of events) {
          state.fold(event);
          expect([event.seq, refused(state)]).toEqual([event.seq, []]);
        }
      }
      for (const through of forkPoints(twice).slice(0, 3)) {
        const forked = forkEvents({
          id: 'x',
          events: twice,
          through,
          now: '2026-01-02T03:04:05.000Z',
          ulid: () => 'u',
        });
        if (!forked.ok) throw new Error(forked.failure.message);
        const state = folded([...forked.value, ...later(forked.value, turnStarted, request('Go.'))]);
        expect(refused(state)).toEqual([]);
        expect(state.turn.unanswered).toEqual([]);
      }
    }),
    { numRuns: runs(80, 300) },
  );
});
