// The button below a plan: leaves plan mode and asks the model to carry out the plan.
import { useEffect, useState } from 'preact/hooks';
import type { ChatHead } from '../../protocol/webview.ts';
import { useActions } from '../render/actions.ts';
import { useLastButton } from '../cards/primary.ts';
import { panelStrings as strings } from '../strings/panelStrings.ts';

interface Properties {
  readonly head: ChatHead;
  /** The transcript ends with a complete answer. */
  readonly answered: boolean;
  send(text: string): void;
}

export function PlanBar({ head, answered, send }: Properties) {
  const { post, offers } = useActions();
  const main = useLastButton();
  const [starting, setStarting] = useState(false);
  const [planned, setPlanned] = useState(false);
  const { mode } = head.controls;
  // Plan mode may be chosen after an answer that is not a plan.
  useEffect(() => {
    if (head.running) setPlanned(mode === 'plan');
  }, [head.running, mode]);
  // Sent only once the host has changed the mode: otherwise the turn would only read.
  useEffect(() => {
    if (!starting || mode === 'plan') return;
    setStarting(false);
    send(strings.carryOutPlan);
  }, [starting, mode]);
  if (mode !== 'plan' || !planned || !answered || head.running || !head.canSend || !offers('choose')) return null;
  const start = () => {
    setStarting(true);
    post({ type: 'choose', mode: 'agent' });
  };
  return (
    <div class="plan-bar">
      <button type="button" class={main} title={strings.startPlanTitle} disabled={starting} onClick={start}>
        {strings.startPlan}
      </button>
    </div>
  );
}
