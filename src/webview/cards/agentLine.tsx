// The line on the card of a call that started a subagent: state, last output, tokens, and a button for its
// conversation.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { HandleView } from '../../protocol/page/handlesView.ts';
import { strings } from '../strings/strings.ts';
import { useActions } from '../render/actions.ts';
import { agentOutput } from './agentOutput.ts';
import { HANDLE_ICONS, HandleDetail, OpenAgent } from '../render/handles.tsx';
import { Icon } from '../render/icons.tsx';
import { visibleText } from '../render/visibleText.ts';

const HandlesContext = createContext<readonly HandleView[]>([]);
export const HandlesProvider = HandlesContext.Provider;

/** The background command or subagent that a call started, while it is listed. */
export function useHandle(call: string): HandleView | undefined {
  return useContext(HandlesContext).find((one) => one.call === call);
}

/** Has only the button if the subagent is no longer a handle, as after a restart. */
export function AgentLine({ call, conversation }: { readonly call: string; readonly conversation: string }) {
  const { offers } = useActions();
  const handle = useHandle(call);
  const name = handle?.name ?? '';
  return (
    <div class={`agent-line handle-${handle?.state ?? 'stopped'}`}>
      {handle !== undefined && (
        <span class="handle-state">
          <Icon name={HANDLE_ICONS[handle.state]} />
        </span>
      )}
      <span class="agent-text">
        {handle === undefined ? strings.agentEnded : <HandleDetail handle={handle} />}
        {handle !== undefined && <LastLine text={handle.output} />}
      </span>
      {offers('open_conversation') && <OpenAgent name={name} conversation={conversation} />}
    </div>
  );
}

function LastLine({ text }: { readonly text: string }) {
  const line = agentOutput(text.trimEnd().split('\n').at(-1) ?? '');
  return line === '' ? null : <span class="agent-last">{visibleText(line)}</span>;
}
