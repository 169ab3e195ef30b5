// Draws the timeline on a canvas: three lanes, a shape for each type, and lines from notifications to the requests that
// carried them. What falls on the same pixel is drawn once, so that the work is bounded by the width.
import type { Lane, TimelineItem, TimelineType } from '../../protocol/page/overviewView.ts';
import { type TimelineData } from './timelineData.ts';

/** From above. */
export const LANES: readonly Lane[] = ['you', 'agent', 'outside'];
export const LANE_HEIGHT = 44;
const AXIS_HEIGHT = 20;
export const HEIGHT = LANE_HEIGHT * 3 + AXIS_HEIGHT;
const SIZE = 5;

/** The part of the time that is shown. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

interface Colours {
  readonly text: string;
  readonly quiet: string;
  readonly line: string;
  readonly you: string;
  readonly agent: string;
  readonly outside: string;
  readonly error: string;
  readonly focus: string;
}

export interface Drawing {
  readonly context: CanvasRenderingContext2D;
  readonly width: number;
  readonly data: TimelineData;
  readonly span: Span;
  readonly colours: Colours;
  readonly selected: TimelineItem | undefined;
  formatTime(at: number, step: number): string;
}

/** From the theme, for the element that has its variables. */
export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const of = (name: string, otherwise = style.color) => style.getPropertyValue(name).trim() || otherwise;
  // In high contrast shapes tell the types apart; colours would only lower the contrast.
  const isHigh = document.body.className.includes('high-contrast');
  const chart = (name: string) => (isHigh ? style.color : of(name));
  return {
    text: style.color,
    quiet: of('--vscode-descriptionForeground'),
    line: isHigh ? of('--vscode-contrastBorder') : of('--vscode-panel-border', of('--vscode-widget-border')),
    you: chart('--vscode-charts-blue'),
    agent: chart('--vscode-charts-purple'),
    outside: chart('--vscode-charts-green'),
    error: of('--vscode-errorForeground'),
    focus: of('--vscode-focusBorder'),
  };
}

function pixelOf(at: number, { from, to }: Span, width: number): number {
  return ((at - from) / Math.max(1, to - from)) * width;
}

function middleOf({ lane }: Pick<TimelineItem, 'lane'>): number {
  return LANES.indexOf(lane) * LANE_HEIGHT + LANE_HEIGHT / 2;
}

export function drawTimeline(drawing: Drawing): void {
  const { context, width, colours, selected } = drawing;
  context.clearRect(0, 0, width, HEIGHT);
  drawGround(drawing);
  drawLinks(drawing);
  drawItems(drawing);
  if (selected === undefined) return;
  const x = pixelOf(selected.at, drawing.span, width);
  const end = pixelOf(selected.until ?? selected.at, drawing.span, width);
  context.strokeStyle = colours.focus;
  context.lineWidth = 2;
  context.strokeRect(x - 8, middleOf(selected) - 10, Math.max(16, end - x + 16), 20);
}

function drawGround({ context, width, span, colours, formatTime }: Drawing): void {
  context.lineWidth = 1;
  context.strokeStyle = colours.line;
  context.beginPath();
  for (let lane = 1; lane <= 3; lane += 1) {
    context.moveTo(0, lane * LANE_HEIGHT + 0.5);
    context.lineTo(width, lane * LANE_HEIGHT + 0.5);
  }
  context.stroke();
  const step = tickStep(span, width);
  context.fillStyle = colours.quiet;
  context.textBaseline = 'middle';
  // Local time: ticks fall on whole hours and minutes of the user.
  const offset = new Date(span.from).getTimezoneOffset() * 60_000;
  const first = Math.ceil((span.from - offset) / step) * step + offset;
  for (let at = first; at < span.to; at += step) {
    const x = Math.round(pixelOf(at, span, width)) + 0.5;
    context.beginPath();
    context.moveTo(x, LANE_HEIGHT * 3);
    context.lineTo(x, LANE_HEIGHT * 3 + 4);
    context.stroke();
    const text = formatTime(at, step);
    if (x + context.measureText(text).width + 4 < width) context.fillText(text, x + 3, LANE_HEIGHT * 3 + 11);
  }
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const STEPS = [
  ...[1, 2, 5, 10, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 30].map((minutes) => minutes * MINUTE),
  ...[1, 3, 6, 12, 24, 72, 168, 720, 8760].map((hours) => hours * HOUR),
];

function tickStep({ from, to }: Span, width: number): number {
  const least = ((to - from) / Math.max(1, width)) * 80;
  return STEPS.find((one) => one >= least) ?? 24 * HOUR * 3650;
}

function drawLinks({ context, width, data, span, colours }: Drawing): void {
  context.lineWidth = 1;
  context.strokeStyle = colours.outside;
  context.globalAlpha = 0.8;
  context.beginPath();
  const drawn = new Set<string>();
  for (const [item, carrier] of data.links) {
    if ((item.at < span.from && carrier.at < span.from) || item.at > span.to) continue;
    const [x, end] = [Math.round(pixelOf(item.at, span, width)), Math.round(pixelOf(carrier.at, span, width))];
    const key = `${x} ${end} ${item.lane}`;
    if (drawn.has(key)) continue;
    drawn.add(key);
    context.moveTo(x, middleOf(item));
    context.lineTo(end, middleOf(carrier));
  }
  context.stroke();
  context.globalAlpha = 1;
}

function drawItems({ context, width, data, span, colours }: Drawing): void {
  const drawn = new Set<string>();
  for (const item of data.ordered) {
    if (item.at > span.to) break;
    // What began earlier may reach into the span.
    if ((item.until ?? item.at) < span.from) continue;
    const x = Math.round(pixelOf(item.at, span, width));
    const end = Math.round(pixelOf(item.until ?? item.at, span, width));
    const key = `${item.lane} ${item.type} ${x} ${end} ${item.failed ?? ''} ${isOver(item)}`;
    if (drawn.has(key)) continue;
    drawn.add(key);
    context.globalAlpha = isOver(item) ? 0.5 : 1;
    const isBad = item.failed === true || item.level === 'error' || item.level === 'critical';
    context.fillStyle = isBad ? colours.error : colours[item.lane];
    context.strokeStyle = context.fillStyle;
    if (item.type === 'cycle' || item.type === 'call') drawBar(context, item, x, end);
    else drawShape(context, item.type, x, middleOf(item));
  }
  context.globalAlpha = 1;
}

/** It never reached the model. */
function isOver({ state }: TimelineItem): boolean {
  return state === 'withdrawn' || state === 'filtered';
}

function drawBar(context: CanvasRenderingContext2D, item: TimelineItem, x: number, end: number): void {
  const middle = middleOf(item);
  const width = Math.max(2, end - x);
  if (item.type === 'cycle') context.fillRect(x, middle - 9, width, 8);
  else context.strokeRect(x + 0.5, middle + 3.5, width, 6);
  if (item.failed !== true) return;
  // A failure is crossed out.
  context.beginPath();
  context.moveTo(x - 3, middle - 12);
  context.lineTo(x + 5, middle + 12);
  context.stroke();
}

/** Each type has a shape of its own. */
export function drawShape(context: CanvasRenderingContext2D, type: TimelineType, x: number, y: number): void {
  context.lineWidth = 1.5;
  context.beginPath();
  switch (type) {
    case 'message':
      context.arc(x, y, SIZE, 0, 2 * Math.PI);
      break;
    case 'edit':
      context.rect(x - SIZE + 1, y - SIZE + 1, SIZE * 2 - 2, SIZE * 2 - 2);
      break;
    case 'decision':
      polygon(context, x, y, [-SIZE, 0], [-1, SIZE], [SIZE, -SIZE], [-1, SIZE - 3]);
      break;
    case 'build':
      polygon(context, x, y, [0, -SIZE], [SIZE, SIZE], [-SIZE, SIZE]);
      break;
    case 'problem':
      polygon(context, x, y, [-SIZE, -SIZE], [SIZE, SIZE], [0, 0], [SIZE, -SIZE], [-SIZE, SIZE], [0, 0]);
      context.stroke();
      return;
    case 'server':
      context.rect(x - SIZE, y - SIZE, SIZE * 2, SIZE - 1);
      context.rect(x - SIZE, y + 1, SIZE * 2, SIZE - 1);
      break;
    case 'agent':
      context.arc(x, y, SIZE - 1, 0, 2 * Math.PI);
      context.stroke();
      return;
    default:
      polygon(context, x, y, [0, -SIZE], [SIZE, 0], [0, SIZE], [-SIZE, 0]);
  }
  context.fill();
}

function polygon(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  ...points: readonly (readonly [number, number])[]
): void {
  for (const [index, [right, down]] of points.entries()) {
    if (index === 0) context.moveTo(x + right, y + down);
    else context.lineTo(x + right, y + down);
  }
  context.closePath();
}
