// What the shapes of the timeline mean.
import { useEffect, useRef } from 'preact/hooks';
import type { Lane, TimelineType } from '../../protocol/page/overviewView.ts';
import { coloursOf, drawShape } from './drawTimeline.ts';
import { timelineStrings as strings } from './timelineStrings.ts';

const SIZE = 14;
const TYPES: readonly (readonly [TimelineType, Lane])[] = [
  ['message', 'you'],
  ['edit', 'you'],
  ['decision', 'you'],
  ['cycle', 'agent'],
  ['call', 'agent'],
  ['change', 'outside'],
  ['build', 'outside'],
  ['problem', 'outside'],
  ['server', 'outside'],
  ['agent', 'outside'],
];

/** `theme` changes with the colours. */
export function Legend({ theme }: { readonly theme: number }) {
  return (
    <details class="timeline-legend">
      <summary>{strings.legend}</summary>
      <ul>
        {TYPES.map(([type, lane]) => (
          <li key={type}>
            <Shape type={type} lane={lane} theme={theme} />
            {strings.types[type]}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Shape({ type, lane, theme }: { readonly type: TimelineType; readonly lane: Lane; readonly theme: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (canvas.current === null || !context) return;
    const scale = window.devicePixelRatio;
    canvas.current.width = SIZE * scale;
    canvas.current.height = SIZE * scale;
    context.scale(scale, scale);
    const colour = coloursOf(canvas.current)[lane];
    context.fillStyle = colour;
    context.strokeStyle = colour;
    if (type === 'cycle') context.fillRect(1, 3, SIZE - 2, 8);
    else if (type === 'call') context.strokeRect(1.5, 4.5, SIZE - 3, 6);
    else drawShape(context, type, SIZE / 2, SIZE / 2);
  }, [theme]);
  return <canvas ref={canvas} class="timeline-shape" aria-hidden="true" />;
}
