// The table of what became of each kind of notification, by source, with small bars.
import type { FromOverview, KindRow, UseScope, UseTable } from '../../protocol/page/overviewView.ts';
import { overviewStrings as strings } from './overviewStrings.ts';

interface Properties {
  readonly table: UseTable;
  readonly scope: UseScope;
  readonly post: (message: FromOverview) => void;
}

const SCOPES: readonly UseScope[] = ['conversation', 'all'];

export function KindTable({ table, scope, post }: Properties) {
  const { conversations, kinds } = table;
  const sources = [...new Set(kinds.map(({ source }) => source))];
  const most = Math.max(1, ...kinds.map(({ tokens }) => tokens));
  return (
    <section aria-label={strings.use}>
      <div class="overview-bar">
        <fieldset class="overview-scopes">
          <legend class="hidden">{strings.counted}</legend>
          {SCOPES.map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="scope"
                checked={one === scope}
                onChange={() => post({ type: 'show_use', scope: one })}
              />
              {strings.scopes[one]}
            </label>
          ))}
        </fieldset>
        <button type="button" class="overview-button" onClick={() => post({ type: 'export_use' })}>
          {strings.exportJson}
        </button>
      </div>
      <p class="quiet small overview-note">
        {table.scope === 'all' ? strings.ofAll(conversations) : strings.explained}
      </p>
      {kinds.length === 0 ? (
        <p class="quiet overview-note">{strings.none}</p>
      ) : (
        <table class="use-table">
          <caption class="hidden">{strings.caption}</caption>
          <thead>
            <tr>
              <th scope="col">{strings.kind}</th>
              <th scope="col" class="number">
                {strings.delivered}
              </th>
              <th scope="col" class="number">
                {strings.tokens}
              </th>
              <th scope="col" class="number" title={strings.usedTitle}>
                {strings.used}
              </th>
            </tr>
          </thead>
          {sources.map((source) => (
            <SourceRows key={source} rows={kinds.filter((row) => row.source === source)} most={most} post={post} />
          ))}
        </table>
      )}
    </section>
  );
}

interface SourceProperties extends Pick<Properties, 'post'> {
  readonly rows: readonly KindRow[];
  readonly most: number;
}

function SourceRows({ rows, most, post }: SourceProperties) {
  return (
    <tbody>
      {rows.length > 1 && <SourceRow rows={rows} />}
      {rows.map((row) => (
        <Row key={row.name} row={row} alone={rows.length === 1} most={most} post={post} />
      ))}
    </tbody>
  );
}

function SourceRow({ rows }: { readonly rows: readonly KindRow[] }) {
  const sum = (key: 'delivered' | 'tokens' | 'followed' | 'used') => rows.reduce((total, row) => total + row[key], 0);
  return (
    <tr class="use-source">
      <th scope="rowgroup">{rows[0]?.sourceLabel}</th>
      <td class="number">{strings.number(sum('delivered'))}</td>
      <td class="number">{strings.number(sum('tokens'))}</td>
      <td class="number">{strings.share(sum('used'), sum('followed'))}</td>
    </tr>
  );
}

interface RowProperties {
  readonly row: KindRow;
  /** The only kind of its source. */
  readonly alone: boolean;
  readonly most: number;
  readonly post: (message: FromOverview) => void;
}

function Row({ row, alone, most, post }: RowProperties) {
  const { label, sourceLabel, delivered, tokens, followed, used, refused, state, offersMute } = row;
  const details = strings.touches(row);
  const mute = { by: 'kind', kind: { source: row.source, name: row.name } } as const;
  const hasMore = details !== '' || refused > 0 || offersMute || state !== 'on';
  return (
    <>
      <tr>
        <th scope="row">
          {label}
          {alone && <span class="quiet"> · {sourceLabel}</span>}
        </th>
        <td class="number">{strings.number(delivered)}</td>
        <td class="number">
          {strings.number(tokens)}
          <Bar share={tokens / most} />
        </td>
        <td class="number">
          {strings.share(used, followed)}
          {followed > 0 && <Bar share={used / followed} />}
        </td>
      </tr>
      {hasMore && (
        <tr class="use-more small">
          <td colSpan={4}>
            {details !== '' && <span class="quiet">{details}</span>}
            {refused > 0 && <span>{strings.refused(refused)}</span>}
            {offersMute && (
              <span>
                {strings.neverUsed(tokens)}{' '}
                <Choice
                  label={strings.mute}
                  full={strings.muteKind(label)}
                  choose={() => post({ type: 'mute', mute })}
                />
              </span>
            )}
            {state !== 'on' && <span>{strings.muted}</span>}
            {state === 'undo' && (
              <Choice
                label={strings.undo}
                full={strings.unmuteKind(label)}
                choose={() => post({ type: 'unmute', mute })}
              />
            )}
          </td>
        </tr>
      )}
    </>
  );
}

interface ChoiceProperties {
  readonly label: string;
  /** With the kind that it is about. */
  readonly full: string;
  readonly choose: () => void;
}

function Choice({ label, full, choose }: ChoiceProperties) {
  return (
    <button type="button" class="overview-button" aria-label={full} onClick={choose}>
      {label}
    </button>
  );
}

/** Shows what the number beside it says. */
function Bar({ share }: { readonly share: number }) {
  const width = Math.round(Math.min(1, share) * 100);
  return (
    <svg class="use-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect class="use-bar-ground" width="100" height="4" />
      <rect class="use-bar-share" width={width} height="4" />
    </svg>
  );
}
