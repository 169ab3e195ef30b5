// A Frontend that answers approvals as a test says and remembers what was drawn.
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Partial as Drawn,
  type Frontend,
} from '../../src/core/ports.ts';

export class TestFrontend implements Frontend {
  readonly drawn: Drawn[] = [];
  readonly asked: ApprovalRequest[] = [];
  answer: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer> = async () => ({
    action: 'approve',
    by: 'user',
  });

  render(_conversation: string, drawn: Drawn): void {
    this.drawn.push(drawn);
  }

  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    this.asked.push(request);
    return this.answer(request, signal);
  }
}
