// Adds content that is not in the log yet (answers and calls being streamed, output of running tools) to a map of
// transcript items.
import { failureText } from '../../base/failureTexts.ts';
import { type TranscriptItem } from '../../protocol/transcript.ts';
import { type Change } from '../../protocol/webview.ts';
import { type PartialAnswer } from '../ports/ports.ts';

/** The number of characters of a running tool's output that are kept. */
const LIVE_OUTPUT = 20_000;

export type TranscriptChange = Exclude<Change, { type: 'head' }>;
type Items = Map<string, TranscriptItem>;
type OnChange = (change: TranscriptChange) => void;

/** Like `drawPartial`, for a conversation that is not shown. */
export function keepPartial(items: Items, partial: PartialAnswer): void {
  // The call itself is in the log; only its output is not.
  if (partial.type === 'tool_output' && !items.has(partial.call)) {
    items.set(partial.call, { ...outputOnly, id: partial.call });
  }
  drawPartial(items, partial, () => undefined);
}

export function drawPartial(items: Items, partial: PartialAnswer, onChange: OnChange): void {
  const set = (item: TranscriptItem) => {
    items.set(item.id, item);
    onChange({ type: 'item', item });
  };
  const remove = (id: string) => {
    if (items.delete(id)) onChange({ type: 'removed', id });
  };
  switch (partial.type) {
    case 'answer_started':
      return set({ type: 'answer', id: partial.id, text: '', reasoning: '', streaming: true, truncated: false });
    case 'answer_text':
      return extend(items, partial.id, partial.field, partial.text, onChange);
    case 'answer_ended': {
      for (const call of [...items.keys()]) if (call.startsWith(`${partial.id}:`)) remove(call);
      const item = items.get(partial.id);
      if (item?.type !== 'answer') return;
      // An answer with text is replaced by the complete event soon; an empty one is removed.
      if (item.text !== '' || item.reasoning !== '') return set({ ...item, streaming: false });
      return remove(partial.id);
    }
    case 'retrying':
      return set(retryNotice(partial));
    case 'retrying_ended':
      return remove(partial.id);
    case 'call_text': {
      const id = `${partial.answer}:${partial.index}`;
      if (!items.has(id)) set({ ...unfinishedCall, id, name: partial.name });
      return extend(items, id, 'output', partial.text, onChange);
    }
    case 'tool_started':
      return;
    case 'tool_output':
      return extend(items, partial.call, 'output', partial.text, onChange);
  }
}

function extend(
  items: Items,
  id: string,
  field: 'text' | 'reasoning' | 'output',
  text: string,
  onChange: OnChange,
): void {
  const item = items.get(id);
  if (item?.type === 'answer' && field !== 'output') {
    items.set(id, { ...item, [field]: item[field] + text });
  } else if (item?.type === 'tool' && field === 'output') {
    const output = item.output + text;
    // The arguments of a call can only be read from their beginning; the size of an answer is limited elsewhere.
    items.set(id, { ...item, output: item.state === 'writing' ? output : output.slice(-LIVE_OUTPUT) });
  } else {
    return;
  }
  onChange({ type: 'text', id, field, text });
}

/** The streamed items that are not in the log yet, of a transcript that is no longer shown. */
export function unfinishedOf(items: Items): Items {
  return new Map([...items].filter(([, item]) => isUnfinished(item)));
}

function isUnfinished(item: TranscriptItem): boolean {
  if (item.type === 'answer') return item.streaming;
  return item.type === 'tool' && (item.state === 'writing' || (item.state === 'running' && item.output !== ''));
}

/** Adds the item to those of the log, which lack only the output of a running tool. */
export function addUnfinished(items: Items, item: TranscriptItem): void {
  const logged = items.get(item.id);
  if (logged === undefined) {
    if (item.type !== 'tool' || item.state === 'writing') items.set(item.id, item);
  } else if (logged.type === 'tool' && item.type === 'tool' && logged.state === 'running') {
    items.set(item.id, { ...logged, output: item.output });
  }
}

/** A call while the model writes it. */
const unfinishedCall = { type: 'tool', arguments: {}, state: 'writing', output: '' } as const;
/** An item for the output of a call that is in the log. */
const outputOnly = { type: 'tool', name: '', arguments: {}, state: 'running', output: '' } as const;

function retryNotice({ id, seconds, failure }: Extract<PartialAnswer, { type: 'retrying' }>): TranscriptItem {
  const known = failureText(failure.code);
  return {
    ...{ type: 'notice', id, level: 'warning', text: failure.message, nextStep: `Trying again in ${seconds} s.` },
    ...(known !== undefined && { failure: known }),
  };
}
