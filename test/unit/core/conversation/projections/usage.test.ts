// Usage of a conversation: the endpoint's counts are authoritative, and estimates between them are scaled to fit.
import { describe, expect, test } from 'vitest';
import { costOf, UsageTotal } from '../../../../../src/core/conversation/projections/usage.ts';
import { type ModelMessage } from '../../../../../src/core/ports/modelMessages.ts';
import { estimateTokens } from '../../../../../src/core/conversation/tokens.ts';
import { EVENT_VERSION, type EventDraft, type LogEvent } from '../../../../../src/protocol/event.ts';

function fold(...drafts: EventDraft[]): UsageTotal {
  const usage = new UsageTotal();
  for (const [index, draft] of drafts.entries()) {
    const envelope = { v: EVENT_VERSION, seq: index + 1, event_id: String(index), timestamp: '2026-01-01T00:00:00Z' };
    usage.fold({ ...envelope, ...draft } as LogEvent);
  }
  return usage;
}

const request = (content: string): EventDraft => ({ type: 'chat_request', content, source: 'user' });
const call = (input: number, output: number, more: object = {}): EventDraft => ({
  type: 'model_call',
  model: 'm',
  outcome: 'succeeded',
  usage: { input_tokens: input, output_tokens: output, cached_tokens: 10 },
  ...more,
});
const answerText = 'several words of a text that is read '.repeat(40);
const size = estimateTokens(answerText);
const none = () => [];

describe('the size of the next request', () => {
  test('counts images that the user attaches, and images of messages that a compaction keeps', () => {
    const image = { type: 'image', media_type: 'image/png', hash: 'h' } as const;
    const asked: EventDraft = { ...request(''), attachments: [image] } as EventDraft;
    const plain = fold(call(1000, 0), request('')).contextTokens(none, () => '');
    expect(fold(call(1000, 0), asked).contextTokens(none, () => '') - plain).toBeGreaterThan(1500);
    const compacted = fold(call(90_000, 0), { type: 'compaction', summary: 's', through: 1 });
    const reference = { hash: 'h', mediaType: 'image/png', name: 'a' };
    const kept: ModelMessage[] = [
      { role: 'user', content: '', images: [reference] },
      { role: 'tool', call: 'c', content: '', resultImages: [{ ...reference, tokens: 300 }] },
    ];
    expect(
      compacted.contextTokens(
        () => kept,
        () => '',
      ),
    ).toBeGreaterThanOrEqual(1900);
  });

  test('is estimated, with the system prompt, before the first count', () => {
    expect(fold(request(answerText)).contextTokens(none, () => answerText)).toBe(2 * size);
  });

  test('is the last count plus an estimate of what followed', () => {
    const usage = fold(request('x'), call(1000, 50), request(answerText));
    expect(usage.contextTokens(none, () => answerText)).toBe(1050 + size);
  });

  test('is scaled by the error of the last estimate', () => {
    const usage = fold(
      request('x'),
      call(1000, 50),
      request(answerText),
      call(1050 + 2 * size, 10),
      request(answerText),
    );
    expect(usage.ratio).toBe(1.5);
    expect(usage.contextTokens(none, () => '')).toBe(1060 + 2 * size + Math.round(1.5 * size));
  });

  test('is estimated again after a compaction', () => {
    const usage = fold(request(answerText), call(90_000, 50), { type: 'compaction', summary: 'short', through: 2 });
    const messages = () => [{ role: 'user' as const, content: 'short' }];
    expect(usage.contextTokens(messages, () => '')).toBeLessThan(10);
  });

  test('is not changed by a model call outside the turn', () => {
    const usage = fold(request('x'), call(1000, 50), call(9, 9, { purpose: 'title' }));
    expect(usage.contextTokens(none, () => '')).toBe(1050);
  });
});

test('usage is counted by model, with separate totals for notifications and system turns', () => {
  const carried = {
    format: 'xml',
    text: answerText,
    through: 1,
    user_text: [],
    shown: [],
    merged: [],
    counted: [],
    filtered: [],
  } as const;
  const notifications = { ...carried, user_text: [], shown: [], merged: [], counted: [], filtered: [] };
  const usage = fold(
    { type: 'turn_started', source: 'user' },
    call(100, 10),
    call(50, 5, { purpose: 'title', model: 'other' }),
    { type: 'turn_started', source: 'system' },
    { type: 'chat_request', content: '', source: 'system', notifications },
    call(200, 20),
  );
  expect(usage.total).toMatchObject({ input: 350, output: 35, cached: 30 });
  expect(usage.byModel.get('other')).toMatchObject({ input: 50, output: 5, cached: 10 });
  expect(usage.woken).toMatchObject({ input: 200, output: 20, cached: 10 });
  expect(usage.notifications).toBeGreaterThan(0);
});

test('the cost counts cached tokens as input, at their own price where it is known', () => {
  const tokens = { input: 1_000_000, output: 500_000, cached: 400_000, written: 0 };
  expect(costOf(tokens, { input: 2, output: 10, cached: 0.5 })).toBeCloseTo(0.6 * 2 + 0.4 * 0.5 + 5);
  expect(costOf(tokens, { input: 2, output: 10 })).toBeCloseTo(7);
});
