// The panel that the context meter opens: what fills the context window, and what the conversation has used.
import type { ContextView } from '../../protocol/page/controlsView.ts';
import { formatCost, panelStrings as strings } from '../strings/panelStrings.ts';
import { useActions } from '../render/actions.ts';
import { Popover } from './popover.tsx';

interface Properties {
  readonly context: ContextView | null | undefined;
  readonly currency: string;
  readonly close: () => void;
}

export function ContextPanel({ context, currency, close }: Properties) {
  const { post, offers } = useActions();
  return (
    <Popover label={strings.context} opener=".meter" close={close}>
      {context === null || context === undefined ? (
        <p class="quiet">{strings.contextNone}</p>
      ) : (
        <Filled context={context} currency={currency} />
      )}
      {offers('show_notifications') && (
        <button type="button" class="link" onClick={() => post({ type: 'show_notifications' })}>
          {strings.openNotifications}
        </button>
      )}
    </Popover>
  );
}

function Filled({ context, currency }: { readonly context: ContextView; readonly currency: string }) {
  const { window: size, used, parts, total, written, woken, cost, switches } = context;
  const share = (tokens: number) => `${Math.min(100, (tokens / size) * 100)}%`;
  return (
    <>
      <p>{strings.contextOf(used.toLocaleString(), size.toLocaleString())}</p>
      <div class="context-bar" aria-hidden="true">
        {parts.map(({ part, tokens }) => (
          <span key={part} class={`context-part part-${part}`} style={{ width: share(tokens) }} />
        ))}
      </div>
      <table class="context-table">
        <tbody>
          {parts.map(({ part, tokens }) => (
            <tr key={part}>
              <th scope="row">
                <span class={`context-key part-${part}`} aria-hidden="true" />
                {strings.contextParts[part]}
              </th>
              <td>{tokens.toLocaleString()}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">
              <span class="context-key" aria-hidden="true" />
              {strings.contextFree}
            </th>
            <td>{Math.max(0, size - used).toLocaleString()}</td>
          </tr>
        </tbody>
      </table>
      <p class="quiet small">{strings.contextEstimated}</p>
      <h3>{strings.contextTotal}</h3>
      <table class="context-table">
        <tbody>
          <Row label={strings.tokensIn} value={total.input.toLocaleString()} />
          {total.cached > 0 && <Row share label={strings.tokensCached} value={total.cached.toLocaleString()} />}
          {written > 0 && <Row share label={strings.tokensWritten} value={written.toLocaleString()} />}
          <Row label={strings.tokensOut} value={total.output.toLocaleString()} />
          {woken > 0 && <Row label={strings.tokensWoken} value={woken.toLocaleString()} />}
          <Row
            label={strings.cost}
            value={cost === null ? strings.costUnknown : formatCost(cost, currency)}
            title={cost === null ? strings.costUnknownTitle : ''}
          />
        </tbody>
      </table>
      {switches.length > 0 && (
        <>
          <h3>{strings.switching}</h3>
          <p class="quiet small">{strings.switchingTitle}</p>
          <table class="context-table">
            <tbody>
              {switches.map(({ model, cost: price }) => (
                <Row key={model} label={model} value={formatCost(price, currency)} />
              ))}
            </tbody>
          </table>
        </>
      )}
    </>
  );
}

function Row({
  label,
  value,
  title = '',
  share = false,
}: {
  readonly label: string;
  readonly value: string;
  readonly title?: string;
  /** The value is a part of the row before it. */
  readonly share?: boolean;
}) {
  return (
    <tr title={title} class={share ? 'context-share' : ''}>
      <th scope="row">{label}</th>
      <td>{value}</td>
    </tr>
  );
}
