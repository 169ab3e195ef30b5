// The list of timers and conditions above the composer: what each waits for, when it is due, and its actions.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { DueView } from '../../protocol/page/handlesView.ts';
import { memo } from '../memo.ts';
import { ConditionParts } from './condition.tsx';
import { shortCount, StripList } from './strip.tsx';
import { dueStrings as strings } from '../strings/dueStrings.ts';
import { formatMoment } from '../strings/moments.ts';
import { HandleAction } from '../render/handles.tsx';
import { Icon } from '../render/icons.tsx';
import { visibleText } from '../render/visibleText.ts';

export const DueList = memo(function DueList({ due }: { readonly due: readonly DueView[] }) {
  const [first] = due;
  if (first === undefined) return null;
  const summary = strings.summary(due.length);
  return (
    <StripList
      name="due"
      label={strings.due}
      icon="clock"
      count={shortCount(due.length)}
      summary={summary}
      note={`${visibleText(first.name)}: ${describeNext(first)}`}
      status={summary}
    >
      {() => (
        <>
          <p class="sheet-head">
            {strings.due} <span class="handles-count">{summary}</span>
          </p>
          <ul class="handles-items">
            {due.map((one) => (
              <Row key={one.name} due={one} />
            ))}
          </ul>
        </>
      )}
    </StripList>
  );
});

function Row({ due }: { readonly due: DueView }) {
  const row = useFocusKept();
  const name = visibleText(due.name);
  return (
    <li class="handle due-one" ref={row}>
      <div class="handle-row">
        <span class="handle-head">
          <Icon name={due.timer ? 'clock' : 'bell'} />
          <span class="handle-name" title={name}>
            {name}
          </span>
        </span>
        <HandleAction icon="play" label={strings.fireNow(name)} message={{ type: 'fire_wake', name: due.name }} />
        <HandleAction icon="close" label={strings.cancel(name)} message={{ type: 'cancel_wake', name: due.name }} />
      </div>
      <p class="handle-detail due-next">{describeNext(due)}</p>
      {due.when !== undefined && <ConditionParts part={due.when} facts={due.facts} />}
      {due.note !== '' && <p class="handle-detail">{strings.note(visibleText(due.note))}</p>}
    </li>
  );
}

/** When a row with the focus is removed, the same button of its neighbour gets the focus. */
function useFocusKept() {
  const row = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => {
    const element = row.current;
    return () => {
      const buttons = [...(element?.querySelectorAll('button') ?? [])];
      const index = buttons.findIndex((button) => button === document.activeElement);
      const neighbour = element?.nextElementSibling ?? element?.previousElementSibling;
      if (index >= 0) neighbour?.querySelectorAll('button')[index]?.focus();
    };
  }, []);
  return row;
}

/** `Due: 17:00 · 3 more times at most` */
function describeNext({ next, timer, left }: DueView): string {
  const moment = formatMoment(next);
  const at = timer ? strings.at(moment) : strings.until(moment);
  return left === undefined ? at : `${at} · ${strings.left(left)}`;
}
