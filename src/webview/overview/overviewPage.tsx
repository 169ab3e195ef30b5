// The page of the notifications overview: the timeline, and the table of kinds.
import type { FromOverview, UseScope, UseTable } from '../../protocol/page/overviewView.ts';
import { KindTable } from './kindTable.tsx';
import { overviewStrings as strings } from './overviewStrings.ts';
import { Timeline } from './timeline.tsx';
import type { TimelineData } from './timelineData.ts';
import { timelineStrings } from './timelineStrings.ts';

export interface OverviewState {
  readonly part: 'timeline' | 'use';
  /** What was chosen; the table may still be of the other one. */
  readonly scope: UseScope;
  /** Null: no conversation is shown. Undefined until the host has sent it. */
  readonly table: UseTable | null | undefined;
  readonly timeline: TimelineData | null | undefined;
}

interface Properties {
  readonly state: OverviewState;
  readonly post: (message: FromOverview) => void;
}

export function OverviewPage({ state, post }: Properties) {
  const { part, scope, table, timeline } = state;
  const shown = part === 'use' ? table : timeline;
  return (
    <main class="overview">
      <h1 class="hidden">{strings.title}</h1>
      <nav class="overview-tabs" aria-label={strings.title}>
        <Tab
          label={timelineStrings.title}
          current={part === 'timeline'}
          choose={() => post({ type: 'show_timeline' })}
        />
        <Tab label={strings.use} current={part === 'use'} choose={() => post({ type: 'show_use', scope })} />
      </nav>
      {shown === undefined && (
        <p class="quiet overview-note" role="status">
          {strings.loading}
        </p>
      )}
      {shown === null && <p class="quiet overview-note">{strings.noConversation}</p>}
      {part === 'use' && table !== undefined && table !== null && <KindTable table={table} scope={scope} post={post} />}
      {part === 'timeline' && timeline?.ordered.length === 0 && (
        <p class="quiet overview-note">{timelineStrings.none}</p>
      )}
      {part === 'timeline' && timeline !== undefined && timeline !== null && timeline.ordered.length > 0 && (
        <Timeline data={timeline} post={post} />
      )}
    </main>
  );
}

interface TabProperties {
  readonly label: string;
  readonly current: boolean;
  readonly choose: () => void;
}

function Tab({ label, current, choose }: TabProperties) {
  return (
    <button type="button" class="overview-tab" aria-current={current ? 'page' : undefined} onClick={choose}>
      {label}
    </button>
  );
}
