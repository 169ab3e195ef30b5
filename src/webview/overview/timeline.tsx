// The timeline: a canvas with three lanes that is zoomed, moved and read by mouse and keyboard, and what it says about the
// item that is selected or under the mouse.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { FromOverview, Lane, TimelineItem } from '../../protocol/page/overviewView.ts';
import { visibleText } from '../render/visibleText.ts';
import { coloursOf, drawTimeline, HEIGHT, LANE_HEIGHT, LANES, type Span } from './drawTimeline.ts';
import { Legend } from './legend.tsx';
import { distance, nearest, openable, step, type TimelineData } from './timelineData.ts';
import { timelineStrings as strings } from './timelineStrings.ts';

interface Properties {
  readonly data: TimelineData;
  readonly post: (message: FromOverview) => void;
}

const HOUR = 60 * 60 * 1000;
/** Pixels; the mark around the selected item is as wide. */
const HALF_SHAPE = 9;
const SHORTEST = 1000;
/** In pixels: how near the mouse must be, and how far it moves before it drags. */
const NEAR = 8;
const ZOOM = 1.5;

/** `hour`, `all`: follows what happens. */
type Shown = 'hour' | 'all' | Span;

export function Timeline({ data, post }: Properties) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const area = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<Shown>('hour');
  const [selected, setSelected] = useState<number>();
  const [hovered, setHovered] = useState<{ readonly item: TimelineItem; readonly x: number }>();
  const [width, setWidth] = useState(0);
  const [theme, setTheme] = useState(0);
  const span = spanOf(shown, data, width);
  const chosen = selected === undefined ? undefined : data.byId.get(selected);

  useLayoutEffect(() => {
    const element = area.current;
    if (element === null) return;
    const measure = () => setWidth(element.clientWidth);
    measure();
    const sizes = new ResizeObserver(measure);
    sizes.observe(element);
    const themes = new MutationObserver(() => setTheme((before) => before + 1));
    for (const one of [document.body, document.documentElement])
      themes.observe(one, { attributes: true, attributeFilter: ['class', 'style'] });
    return () => {
      sizes.disconnect();
      themes.disconnect();
    };
  }, []);

  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const context = canvas.current?.getContext('2d');
      if (canvas.current === null || !context || width === 0) return;
      const scale = window.devicePixelRatio;
      canvas.current.width = width * scale;
      canvas.current.height = HEIGHT * scale;
      context.scale(scale, scale);
      context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
      const colours = coloursOf(canvas.current);
      drawTimeline({ context, width, data, span, colours, selected: chosen, formatTime: strings.tick });
    });
    return () => cancelAnimationFrame(frame);
  }, [data, span.from, span.to, width, theme, chosen]);

  const zoom = (by: number, around = chosen?.at ?? (span.from + span.to) / 2) => {
    const length = Math.max(SHORTEST, (span.to - span.from) / by);
    const share = (around - span.from) / Math.max(1, span.to - span.from);
    const from = around - length * Math.min(1, Math.max(0, share));
    setShown({ from, to: from + length });
  };
  const move = (by: number) => setShown({ from: span.from + by, to: span.to + by });
  const momentAt = (x: number) => span.from + (x / Math.max(1, width)) * (span.to - span.from);
  const select = (item: TimelineItem | undefined) => {
    if (item === undefined) return;
    setSelected(item.id);
    const length = span.to - span.from;
    if (item.at < span.from || item.at > span.to) setShown({ from: item.at - length / 2, to: item.at + length / 2 });
  };
  const open = (item: TimelineItem | undefined) => {
    const target = item && openable(data.ordered, item);
    if (target !== undefined) post({ type: 'open_item', item: target });
  };
  const itemAt = (x: number, y: number) => {
    const lane = LANES[Math.min(2, Math.max(0, Math.floor(y / LANE_HEIGHT)))];
    const isCycle = y - LANE_HEIGHT < LANE_HEIGHT / 2;
    const isMeant = (item: TimelineItem) =>
      item.lane === lane && (lane !== 'agent' || (item.type === 'cycle') === isCycle);
    return nearest(data.ordered, momentAt(x), isMeant);
  };
  const isNear = (item: TimelineItem, x: number) =>
    distance(item, momentAt(x)) <= (NEAR / width) * (span.to - span.from);

  useWheel(area, (event, x) => {
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY))
      move((sideways / Math.max(1, width)) * (span.to - span.from));
    else zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, momentAt(x));
  });
  const drag = useDrag((pixels) => move((-pixels / Math.max(1, width)) * (span.to - span.from)));

  const onKeyDown = (event: KeyboardEvent) => {
    const { ordered } = data;
    const current = chosen ?? nearest(ordered, span.to, () => true);
    if (current === undefined) return;
    const toLane = (by: number) => {
      const lane = LANES[LANES.indexOf(current.lane) + by];
      select(lane && nearest(ordered, current.at, (item) => item.lane === lane));
    };
    const keys: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => select(chosen === undefined ? current : step(ordered, current, -1)),
      ArrowRight: () => select(chosen === undefined ? current : step(ordered, current, 1)),
      ArrowUp: () => toLane(-1),
      ArrowDown: () => toLane(1),
      Home: () => select(ordered.find(({ lane }) => lane === current.lane)),
      End: () => select(ordered.findLast(({ lane }) => lane === current.lane)),
      '+': () => zoom(ZOOM),
      '=': () => zoom(ZOOM),
      '-': () => zoom(1 / ZOOM),
      '0': () => setShown('all'),
      Enter: () => open(current),
      Escape: () => setSelected(undefined),
    };
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  };

  const tip = hovered?.item;
  return (
    <section class="timeline" aria-label={strings.title}>
      <div class="overview-bar timeline-bar">
        <span class="quiet small timeline-span">{strings.span(span.from, span.to)}</span>
        <Choice label={strings.hour} pressed={shown === 'hour'} choose={() => setShown('hour')} />
        <Choice label={strings.all} pressed={shown === 'all'} choose={() => setShown('all')} />
        <Choice label="+" full={strings.zoomIn} choose={() => zoom(ZOOM)} />
        <Choice label="−" full={strings.zoomOut} choose={() => zoom(1 / ZOOM)} />
      </div>
      <div class="timeline-lanes">
        <div class="timeline-names small" aria-hidden="true">
          {LANES.map((lane: Lane) => (
            <span key={lane}>{strings.lanes[lane]}</span>
          ))}
        </div>
        <div
          class="timeline-area"
          ref={area}
          role="application"
          tabIndex={0}
          aria-label={strings.area(data.ordered.length)}
          aria-describedby="timeline-keys"
          onKeyDown={onKeyDown}
          onPointerDown={drag.start}
          onPointerMove={(event) => {
            if (drag.moved(event)) return;
            const item = itemAt(event.offsetX, event.offsetY);
            setHovered(item !== undefined && isNear(item, event.offsetX) ? { item, x: event.offsetX } : undefined);
          }}
          onPointerLeave={() => setHovered(undefined)}
          onClick={(event) => {
            if (drag.wasDragged()) return;
            const near = itemAt(event.offsetX, event.offsetY);
            const item =
              near !== undefined && isNear(near, event.offsetX)
                ? near
                : nearest(data.ordered, momentAt(event.offsetX), () => true);
            if (item !== undefined) setSelected(item.id);
            open(item);
          }}
        >
          <canvas ref={canvas} class="timeline-canvas" style={{ height: `${HEIGHT}px` }} aria-hidden="true" />
          {tip !== undefined && (
            <div
              class="timeline-tip small"
              style={{ [(hovered?.x ?? 0) > width / 2 ? 'right' : 'left']: tipPlace(hovered?.x ?? 0, width) }}
            >
              {describe(tip, data)}
            </div>
          )}
        </div>
      </div>
      <p id="timeline-keys" class="hidden">
        {strings.keys}
      </p>
      <div class="timeline-chosen">
        <p role="status">{chosen === undefined ? strings.nothingChosen : describe(chosen, data)}</p>
        {chosen !== undefined && <Choice label={strings.open} choose={() => open(chosen)} />}
        {chosen !== undefined && (
          <Choice
            label={strings.request}
            choose={() => {
              const carrier = chosen.carrier === undefined ? chosen : (data.byId.get(chosen.carrier) ?? chosen);
              const item = carrier.item ?? openable(data.ordered, carrier);
              if (item !== undefined) post({ type: 'show_request', item });
            }}
          />
        )}
      </div>
      <Legend theme={theme} />
    </section>
  );
}

function tipPlace(x: number, width: number): string {
  return `${Math.max(0, (x > width / 2 ? width - x : x) + 8)}px`;
}

/** With room for half a shape at both ends. */
function spanOf(shown: Shown, { from, to }: TimelineData, width: number): Span {
  if (typeof shown !== 'string') return shown;
  const length = Math.max(SHORTEST, to - from);
  const begin = shown === 'hour' && length > HOUR ? to - HOUR : from;
  const margin = (to - begin) * Math.max(0.02, HALF_SHAPE / Math.max(HALF_SHAPE, width - 2 * HALF_SHAPE)) + 100;
  return { from: begin - margin, to: to + margin };
}

/** Text of others, so every character is made visible. */
function describe(item: TimelineItem, { byId }: TimelineData): string {
  const carrier = item.carrier === undefined ? undefined : byId.get(item.carrier);
  return visibleText(strings.describe(item, carrier));
}

interface ChoiceProperties {
  readonly label: string;
  readonly full?: string;
  readonly pressed?: boolean;
  readonly choose: () => void;
}

function Choice({ label, full, pressed, choose }: ChoiceProperties) {
  return (
    <button
      type="button"
      class="overview-button"
      {...(full !== undefined && { 'aria-label': full, title: full })}
      {...(pressed !== undefined && { 'aria-pressed': pressed })}
      onClick={choose}
    >
      {label}
    </button>
  );
}

/** Not as a property, since the page must not scroll. */
function useWheel(area: { readonly current: HTMLElement | null }, turn: (event: WheelEvent, x: number) => void): void {
  const latest = useRef(turn);
  latest.current = turn;
  useEffect(() => {
    const element = area.current;
    if (element === null) return;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      latest.current(event, event.clientX - element.getBoundingClientRect().left);
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, []);
}

function useDrag(by: (pixels: number) => void) {
  const state = useRef<{ x: number; dragged: boolean; down: boolean }>({ x: 0, dragged: false, down: false });
  return {
    start: (event: PointerEvent) => {
      state.current = { x: event.clientX, dragged: false, down: true };
    },
    /** Returns whether the pointer drags. */
    moved: (event: PointerEvent): boolean => {
      const { current } = state;
      if (!current.down || event.buttons === 0) return false;
      const pixels = event.clientX - current.x;
      if (!current.dragged && Math.abs(pixels) < NEAR) return false;
      state.current = { x: event.clientX, dragged: true, down: true };
      by(pixels);
      return true;
    },
    wasDragged: () => state.current.dragged,
  };
}
