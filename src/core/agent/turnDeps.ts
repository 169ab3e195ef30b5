// What a turn needs: its conversation, the tools, and the services of the window.
import { type Failure } from '../../base/errors.ts';
import { type EventOf } from '../../protocol/event.ts';
import { type Captures } from '../checkpoints/captures.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type OutsideTree } from '../conversation/outside/outsideTree.ts';
import { type Producers } from '../notify/producers.ts';
import { type PromptState } from '../prompt/promptState.ts';
import { type Refusals } from '../prompt/refusals.ts';
import { type OwnEdits } from '../tools/ownEdits.ts';
import { type OfferedTools } from '../tools/offeredTools.ts';
import { type Services } from '../tools/services.ts';

export type CallRequest = EventOf<'tool_call_request'>;
export type TurnEnd = Pick<EventOf<'turn_ended'>, 'outcome'> & { readonly failure?: Failure };

export interface TurnDeps {
  readonly log: ConversationLog;
  readonly registry: OfferedTools;
  readonly outside: OutsideTree;
  readonly edits: OwnEdits;
  readonly ports: Services;
  /** Absent: nothing is captured. */
  readonly captures?: Captures;
  /** Absent: nothing is compared at delivery points. */
  readonly sampling?: Sampling;
  /** The conversation's prompt; absent: each part of a turn reads its own. */
  readonly prompt?: PromptState;
  /** Absent: refused instruction files are not reported. */
  readonly refusals?: Refusals;
}

export interface Sampling {
  /** Their state that is not watched is compared at delivery points. */
  readonly producers: Pick<Producers, 'sample'>;
}
