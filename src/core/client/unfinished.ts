// What is rendered of a conversation and not in its log yet: the answer that is being written, and the output of running
// calls. Kept for front ends that begin to follow it.
import { type LogEvent } from '../../protocol/event.ts';
import { type PartialAnswer } from '../ports/ports.ts';

/** The number of characters of a running call's output that are kept. */
const KEPT_OUTPUT = 20_000;

export class Unfinished {
  #parts: PartialAnswer[] = [];

  get all(): readonly PartialAnswer[] {
    return this.#parts;
  }

  add(partial: PartialAnswer): void {
    if (partial.type === 'answer_ended') return this.#remove((one) => answerOf(one) === partial.id);
    if (partial.type === 'retrying_ended')
      return this.#remove((one) => one.type === 'retrying' && one.id === partial.id);
    const place = this.#parts.findIndex((one) => continues(one, partial));
    const before = this.#parts[place];
    if (before === undefined || !('text' in before) || !('text' in partial)) this.#parts.push(partial);
    else {
      const text = before.text + partial.text;
      this.#parts[place] = { ...before, text: partial.type === 'tool_output' ? text.slice(-KEPT_OUTPUT) : text };
    }
  }

  fold(event: LogEvent): void {
    if (event.type === 'turn_ended') this.#parts = [];
    if (event.type === 'tool_call_response') this.#remove((one) => 'call' in one && one.call === event.id);
    if (event.type === 'chat_response') this.#remove((one) => answerOf(one) === event.event_id);
  }

  #remove(isOver: (one: PartialAnswer) => boolean): void {
    this.#parts = this.#parts.filter((one) => !isOver(one));
  }
}

function answerOf(one: PartialAnswer): string | undefined {
  if (one.type === 'call_text') return one.answer;
  return one.type === 'answer_started' || one.type === 'answer_text' ? one.id : undefined;
}

function continues(before: PartialAnswer, next: PartialAnswer): boolean {
  if (before.type === 'answer_text' && next.type === 'answer_text')
    return before.id === next.id && before.field === next.field;
  if (before.type === 'call_text' && next.type === 'call_text')
    return before.answer === next.answer && before.index === next.index;
  return before.type === 'tool_output' && next.type === 'tool_output' && before.call === next.call;
}
