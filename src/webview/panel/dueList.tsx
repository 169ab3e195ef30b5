// The list above the composer of what is due: timers, conditions, and the lines and events for which the model waits, each
// with what it waits for, until when, and its actions.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { DueView, FollowedView } from '../../protocol/page/handlesView.ts';
import { memo } from '../memo.ts';
import { ConditionParts } from './condition.tsx';
import { shortCount, StripList } from './strip.tsx';
import { dueStrings as strings } from '../strings/dueStrings.ts';
import { formatMoment } from '../strings/moments.ts';
import { HandleAction } from '../render/handles.tsx';
import { Icon } from '../render/icons.tsx';
import { visibleText } from '../render/visibleText.ts';

export const DueList = memo(function DueList({ due }: { readonly due: readonly (DueView | FollowedView)[] }) {
  const [first] = due;
  if (first === undefined) return null;
  const summary = strings.summary(
    due.length,
    due.every(({ what }) => what === 'wake'),
  );
  return (
    <StripList
      name="due"
      label={strings.due}
      icon="clock"
      count={shortCount(due.length)}
      summary={summary}
      note={first.what === 'wake' ? `${visibleText(first.name)}: ${describeNext(first)}` : visibleText(first.title)}
      status={summary}
    >
      {() => (
        <>
          <p class="sheet-head">
            {strings.due} <span class="handles-count">{summary}</span>
          </p>
          <ul class="handles-items">
            {due.map((one) =>
              one.what === 'wake' ? (
                <Row key={one.name} due={one} />
              ) : (
                <FollowedRow key={`${one.what} ${one.name}`} followed={one} />
              ),
            )}
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
        <HandleAction icon="play" label={strings.fireNow(name)} message={{ type: 'fire_due', name: due.name }} />
        <HandleAction
          icon="close"
          label={strings.cancel(name)}
          message={{ type: 'cancel_due', what: 'wake', name: due.name }}
        />
      </div>
      <p class="handle-detail due-next">{describeNext(due)}</p>
      {due.when !== undefined && <ConditionParts part={due.when} facts={due.facts} />}
      {due.note !== '' && <p class="handle-detail">{strings.note(visibleText(due.note))}</p>}
    </li>
  );
}

function FollowedRow({ followed }: { readonly followed: FollowedView }) {
  const row = useFocusKept();
  const { what, name, waitsFor, quiet } = followed;
  const isCommand = ofCommand(followed);
  const title = visibleText(followed.title);
  const lines = waitsFor.map((pattern) => visibleText(pattern)).join(', ');
  return (
    <li class="handle due-one" ref={row}>
      <div class="handle-row">
        <span class="handle-head">
          <Icon name={what === 'events' ? 'bell' : isCommand ? 'terminal' : 'file'} />
          <span class="handle-name" title={title}>
            {title}
          </span>
        </span>
        <HandleAction icon="close" label={strings.cancel(title)} message={{ type: 'cancel_due', what, name }} />
      </div>
      <p class="handle-detail due-next">{describeWakes(followed)}</p>
      {what === 'events' && <p class="handle-detail">{strings.events}</p>}
      {lines !== '' && <p class="handle-detail">{strings.lines(lines)}</p>}
      {quiet !== undefined && <p class="handle-detail">{strings.quiet(quiet)}</p>}
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

/** Lines of the model's own commands wake it, because it asked for them. */
function describeWakes(followed: FollowedView): string {
  const { wakes } = followed;
  if (wakes !== undefined) return strings.wakes(wakes.left, formatMoment(wakes.until));
  return ofCommand(followed) ? strings.wakesOwn : strings.wakesNot;
}

function ofCommand({ what, name }: FollowedView): boolean {
  return what === 'lines' && name.startsWith('handle:');
}
