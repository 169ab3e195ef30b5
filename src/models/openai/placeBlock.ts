// Decides where a block of notifications stands: after a tool's result, before the user's words, or as messages of its own. Pure.
import { unreachable } from '../../base/errors.ts';
import { type Block } from '../../core/ports/modelMessages.ts';
import { type WireMessage } from './wireMessages.ts';

/** The tool that is never offered: under its name a block can look like a call and its result. */
const NOTIFICATION_TOOL = '_system_notification';

/** The message with its block, in the order in which the model reads them. The user's own words come last. */
export function placeBlock(message: WireMessage, block: Block | undefined): WireMessage[] {
  if (block === undefined) return [message];
  const after = message.role === 'tool';
  switch (block.format) {
    case 'xml':
      return [{ ...message, parts: after ? [...message.parts, block.text] : [block.text, ...message.parts] }];
    case 'markdown':
      return [{ ...message, parts: [block.text, ...message.parts] }];
    case 'developer':
      return beside(message, after, [{ role: 'system', parts: [block.text] }]);
    case 'synthetic-tool':
      return beside(message, after, madeUpCall(block));
    default:
      return unreachable(block.format);
  }
}

function beside(message: WireMessage, after: boolean, own: readonly WireMessage[]): WireMessage[] {
  return after ? [message, ...own] : [...own, message];
}

/** The id is the carrier's own, so the same log gives the same bytes again. */
function madeUpCall({ id = '', text }: Block): WireMessage[] {
  const call = `notification_${id}`;
  return [
    { role: 'assistant', parts: [], calls: [{ id: call, name: NOTIFICATION_TOOL, arguments: '{}' }] },
    { role: 'tool', call, parts: [text] },
  ];
}
