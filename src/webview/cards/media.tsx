// Images and sound in the result of a call, read from the host when the card is opened.
import { useEffect, useState } from 'preact/hooks';
import type { ToolMedia } from '../../protocol/transcript.ts';
import { mediaStrings as strings } from './mediaStrings.ts';
import { useActions } from '../render/actions.ts';

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

/** `data` is undefined until it was read, and null if it is no longer stored. */
function Medium({ media: { hash, media_type: type }, number }: { readonly media: ToolMedia; readonly number: number }) {
  const { readMedia } = useActions();
  const [data, setData] = useState<string | null | undefined>(undefined);
  useEffect(() => {
    let here = true;
    readMedia(hash).then(
      (read) => here && setData(read ?? null),
      () => here && setData(null),
    );
    return () => {
      here = false;
    };
  }, [hash]);
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
