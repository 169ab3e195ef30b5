// Answers approvals of a register in a test, as a user does in the chat.
import { type OpenRequest, type Requests } from '../../src/core/client/requests.ts';
import { type ApprovalAnswer, type ApprovalRequest } from '../../src/core/ports/ports.ts';
import { atTestEnd } from './endings.ts';

/** Answers the approvals that are open and those that follow, until the test ends. */
export function answerApprovals(
  requests: Requests,
  decide: (request: ApprovalRequest) => ApprovalAnswer['action'] | Promise<ApprovalAnswer['action']>,
): void {
  const fail = (error: unknown) => {
    throw error;
  };
  const answer = async (open: OpenRequest) => {
    if (open.type !== 'approval') return;
    const { conversation, id, request } = open;
    const action = await decide(request);
    requests.answer({ type: 'approval', conversation, id, answer: { action, by: 'user' } });
  };
  const listening = requests.onDidChange(({ type, open }) => {
    if (type === 'opened') answer(open).catch(fail);
  });
  atTestEnd(async () => listening.dispose());
  for (const open of requests.all) answer(open).catch(fail);
}
