// Images and sound in the result of a call, read from the host when the card is opened, and images that the user sent.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SentImage, ToolMedia } from '../../protocol/transcript.ts';
import { useActions } from '../render/actions.ts';
import { Icon } from '../render/icons.tsx';
import { visibleText } from '../render/visibleText.ts';
import { mediaStrings as strings } from './mediaStrings.ts';

export function MediaList({ media }: { readonly media: readonly ToolMedia[] }) {
  // A host that cannot read media shows only its description in the result.
  if (!useActions().offers('read_media')) return null;
  return (
    <div class="tool-media">
      {media.map((one, index) => (
        <Medium key={one.hash} media={one} number={index + 1} />
      ))}
    </div>
  );
}

function Medium({ media: { hash, media_type: type }, number }: { readonly media: ToolMedia; readonly number: number }) {
  const { readMedia } = useActions();
  const data = useRead(() => readMedia(hash), [hash]);
  if (data === undefined) return <p class="quiet">{strings.loading}</p>;
  if (data === null) return <p class="quiet">{strings.missing}</p>;
  const source = `data:${type};base64,${data}`;
  return type.startsWith('image/') ? (
    <img class="tool-image" src={source} alt={strings.image(number)} />
  ) : (
    // biome-ignore lint/a11y/useMediaCaption: a server sends none
    <audio class="tool-audio" controls src={source} aria-label={strings.recording(number)} />
  );
}

/** In pixels of the screen, for twice as dense ones. */
const THUMBNAIL = 256;

export function SentImages({ images }: { readonly images: readonly SentImage[] }) {
  const canRead = useActions().offers('read_media');
  return (
    <ul class="sent-images" aria-label={strings.sentImages}>
      {images.map((one) => (
        <li key={one.hash}>{canRead ? <Sent image={one} /> : <ImageName name={one.name} />}</li>
      ))}
    </ul>
  );
}

/** Only a thumbnail is kept; a click reads the image again and shows it as wide as the message. */
function Sent({ image: { hash, media_type: type, name } }: { readonly image: SentImage }) {
  const { readMedia } = useActions();
  const place = useRef<HTMLSpanElement>(null);
  const [seen, setSeen] = useState(false);
  const [large, setLarge] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    if (place.current !== null) observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  const read = async () => {
    const data = await readMedia(hash);
    if (data === undefined) return undefined;
    if (large) return { source: `data:${type};base64,${data}` };
    const { drawThumbnail } = await import('../composer/composerImages.ts');
    return { source: await drawThumbnail(data, type, THUMBNAIL) };
  };
  const shown = useRead(seen ? read : undefined, [hash, seen, large]);
  if (shown === undefined) return <span class="sent-image" ref={place} />;
  if (shown === null) return <span class="quiet">{strings.sentImageMissing(visibleText(name))}</span>;
  if (shown.source === undefined) return <ImageName name={name} />;
  const label = strings.sentImage(visibleText(name));
  return (
    <button
      type="button"
      class={`sent-image${large ? ' is-large' : ''}`}
      title={visibleText(name)}
      aria-label={label}
      aria-expanded={large}
      onClick={() => setLarge(!large)}
    >
      <img src={shown.source} alt="" />
    </button>
  );
}

function ImageName({ name }: { readonly name: string }) {
  return (
    <>
      <Icon name="file-media" /> {visibleText(name)}
    </>
  );
}

/** Undefined until it was read, then null if there is nothing. A later read keeps the value until it ends. */
function useRead<T>(
  read: (() => Promise<T | undefined>) | undefined,
  changes: readonly unknown[],
): T | null | undefined {
  const [value, setValue] = useState<T | null | undefined>(undefined);
  useEffect(() => {
    let here = true;
    read?.().then(
      (one) => here && setValue(one ?? null),
      () => here && setValue(null),
    );
    return () => {
      here = false;
    };
  }, changes);
  return value;
}
