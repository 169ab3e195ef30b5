// The footer: mode, model, approvals and context as buttons. Its height never changes, so that the composer stays in place.
import { useState } from 'preact/hooks';
import type { Controls, ContextView } from '../../protocol/page/controlsView.ts';
import type { Level } from '../../protocol/notification.ts';
import type { ChatHead } from '../../protocol/webview.ts';
import { useLoaded } from '../loaded.ts';
import { formatCost, panelStrings as strings } from '../strings/panelStrings.ts';
import { useActions } from '../render/actions.ts';
import { Icon } from '../render/icons.tsx';
import { visibleText } from '../render/visibleText.ts';
import type { PageState } from '../state.ts';
import { t } from '../strings/l10n.ts';
import { MenuButton } from './menu.tsx';
import { Ring } from './ring.tsx';

interface Properties {
  readonly head: ChatHead;
  readonly context: ContextView | null | undefined;
  readonly freshness: PageState['freshness'];
}

export function Footer({ head, context, freshness }: Properties) {
  const { post, offers } = useActions();
  const [open, setOpen] = useState(false);
  const panel = useLoaded(open, () => import('./contextPanel.tsx'));
  const ring = useLoaded(head.freshness != null, () => import('./freshness.tsx'));
  const { model, meter, controls } = head;
  const listed = useLoaded(controls.listedRules !== undefined, () => import('./rules.ts'));
  const modes = (['agent', 'plan'] as const).map((mode) => ({
    id: mode,
    ...strings.modes[mode],
    checked: controls.mode === mode,
    run: () => post({ type: 'choose', mode }),
  }));
  const approvals = (['ask', 'reads', 'edits', 'all'] as const).map((approvals) => ({
    id: approvals,
    ...strings.approvalModes[approvals],
    checked: controls.approvals === approvals,
    run: () => post({ type: 'choose', approvals }),
  }));
  const rules = controls.rules ?? 0;
  const manage = { id: 'rules', label: strings.rules(rules), detail: strings.rulesDetail };
  const revocable = listed?.revocableRules(controls.listedRules ?? [], post) ?? [];
  const { label: mode } = strings.modes[controls.mode];
  const { label: approval } = strings.approvalModes[controls.approvals];
  const approvalTitle = rules === 0 ? approval : strings.widenedBy(approval, strings.rulesBrief(rules));
  const toggle = () => {
    if (!open) post({ type: 'read_context' });
    setOpen(!open);
  };
  if (!offers('choose')) {
    return (
      <footer class="footer">
        <span class="footer-text">
          {[mode, model.label, t(model.detail)].filter((part) => part !== '').join(' · ')}
        </span>
        <span class={controls.approvals === 'all' ? 'footer-text footer-risky' : 'footer-text'}>{approval}</span>
      </footer>
    );
  }
  return (
    <footer class="footer">
      <MenuButton class="footer-button" label={strings.mode} title={strings.modeTitle(mode)} choices={modes}>
        {mode}
        <Icon name="chevron-down" />
      </MenuButton>
      <ModelButton head={head} />
      {controls.effort && <EffortButton effort={controls.effort} />}
      <MenuButton
        class={controls.approvals === 'all' ? 'footer-button footer-risky' : 'footer-button'}
        label={strings.approvals}
        title={strings.approvalsTitle(approvalTitle)}
        choices={
          offers('show_rules')
            ? [...approvals, { ...manage, run: () => post({ type: 'show_rules' }) }]
            : [...approvals, ...revocable]
        }
      >
        <Icon name={controls.approvals === 'all' ? 'warning' : 'shield'} />
        <span class="footer-approvals">{approval}</span>
        {rules > 0 && <span class="footer-rules">{strings.rulesBrief(rules)}</span>}
      </MenuButton>
      {head.freshness != null && ring && <ring.FreshnessButton counts={head.freshness} comparison={freshness} />}
      {meter !== null && (
        <button
          type="button"
          class="footer-button meter"
          title={strings.contextTitle}
          aria-expanded={open}
          onClick={toggle}
        >
          <Ring share={meter.context} level={fullness(meter.context)} />
          <span class="hidden">{strings.contextUsed} </span>
          <span class="meter-share">{strings.percent(meter.context)}</span>
          {meter.cost !== null && <span class="meter-cost"> {formatCost(meter.cost, controls.currency)}</span>}
        </button>
      )}
      {open && panel && (
        <panel.ContextPanel context={context} currency={controls.currency} close={() => setOpen(false)} />
      )}
    </footer>
  );
}

function fullness(share: number): Level {
  return share >= 0.9 ? 'error' : share >= 0.7 ? 'warning' : 'info';
}

/** Opens a menu on the page, or the host's own list of models. */
function ModelButton({ head: { model, models } }: { readonly head: ChatHead }) {
  const { post } = useActions();
  // What the Guide is arrives in English; other details are names.
  const detail = t(model.detail);
  const title = strings.modelTitle(model.label, detail);
  const shown = (
    <>
      <span class="model">
        {model.label} · {detail}
      </span>
      <Icon name="chevron-down" />
    </>
  );
  if (models === undefined) {
    return (
      <button
        type="button"
        class="footer-button footer-model"
        title={title}
        aria-label={title}
        onClick={() => post({ type: 'choose_model' })}
      >
        {shown}
      </button>
    );
  }
  const choices = (models ?? []).map(({ id, label, detail, current }) => ({
    id,
    label: visibleText(label),
    detail: visibleText(detail),
    checked: current,
    run: () => post({ type: 'choose', model: id }),
  }));
  const looking = [{ id: '', label: strings.lookingForModels, run: () => undefined }];
  return (
    <MenuButton
      class="footer-button footer-model"
      label={strings.models}
      title={title}
      choices={models === null ? looking : choices}
      onOpen={() => post({ type: 'list_models', all: true })}
    >
      {shown}
    </MenuButton>
  );
}

/** Only the levels that the model has. */
function EffortButton({ effort: { levels, current } }: { readonly effort: NonNullable<Controls['effort']> }) {
  const { post } = useActions();
  const choices = (['auto', ...levels] as const).map((effort) => ({
    id: effort,
    label: strings.efforts[effort],
    checked: effort === current,
    run: () => post({ type: 'choose', effort }),
  }));
  return (
    <MenuButton
      class="footer-button"
      label={strings.effort}
      title={strings.effortTitle(strings.efforts[current])}
      choices={choices}
    >
      <Icon name="levels" />
      <span class="footer-level">{strings.efforts[current]}</span>
    </MenuButton>
  );
}
