// What an endpoint that takes nothing but the documented form says of a request's messages. Knows nothing of our code.

interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: unknown;
}

interface WireCall {
  readonly id: string;
}

/** Every rule that is broken, in words; empty for a valid request. `alternating`: users and assistants take turns. */
export function refusals(messages: readonly unknown[], alternating = false): string[] {
  const found: string[] = [];
  let awaited = new Set<string>();
  const say = (index: number, what: string) => found.push(`messages[${index}]: ${what}`);
  for (const [index, value] of messages.entries()) {
    const message = value as WireMessage;
    if (message.role === 'tool') {
      const id = String(message.tool_call_id);
      if (!awaited.delete(id)) say(index, `a result for ${id}, which no assistant message just before asked for`);
      if (!hasContent(message.content)) say(index, 'a result without content');
      continue;
    }
    if (awaited.size > 0) say(index, `results are missing for ${[...awaited].join(', ')}`);
    awaited = new Set();
    switch (message.role) {
      case 'system':
      case 'developer':
      case 'user':
        if (!hasContent(message.content)) say(index, `${message.role} without content`);
        break;
      case 'assistant': {
        const calls = callsOf(message, (what) => say(index, what));
        if (calls.length === 0 && !hasContent(message.content)) say(index, 'assistant with neither content nor calls');
        awaited = new Set(calls.map(({ id }) => id));
        if (awaited.size !== calls.length) say(index, 'two calls with one id');
        break;
      }
      default:
        say(index, `there is no role ${message.role}`);
    }
  }
  if (awaited.size > 0) say(messages.length, `results are missing for ${[...awaited].join(', ')}`);
  return alternating ? [...found, ...turnsOf(messages as readonly WireMessage[])] : found;
}

function callsOf(message: WireMessage, say: (what: string) => void): WireCall[] {
  if (message.tool_calls === undefined) return [];
  if (!Array.isArray(message.tool_calls) || message.tool_calls.length === 0) {
    say('tool_calls is not a list of calls');
    return [];
  }
  return message.tool_calls.map((value: unknown) => {
    const call = value as { id?: unknown; type?: unknown; function?: { name?: unknown; arguments?: unknown } };
    const id = typeof call.id === 'string' ? call.id : '';
    if (id === '') say('a call without an id');
    if (call.type !== 'function' || typeof call.function?.name !== 'string') say(`${id} is no function`);
    if (!isObjectText(call.function?.arguments)) say(`the arguments of ${id} are no JSON object`);
    return { id };
  });
}

function turnsOf(messages: readonly WireMessage[]): string[] {
  const found: string[] = [];
  let last = 'assistant';
  for (const [index, { role }] of messages.entries()) {
    if (role === 'system' || role === 'developer') {
      if (index > 0) found.push(`messages[${index}]: a late ${role} message`);
      continue;
    }
    if (role === 'user' && last !== 'assistant') found.push(`messages[${index}]: user after ${last}`);
    if (role === 'assistant' && last === 'assistant') found.push(`messages[${index}]: assistant after ${last}`);
    last = role;
  }
  return found;
}

function hasContent(content: unknown): boolean {
  if (typeof content === 'string') return true;
  return Array.isArray(content) && content.length > 0;
}

function isObjectText(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
