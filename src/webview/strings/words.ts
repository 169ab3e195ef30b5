// Translates sentences that arrive in English. What that needs is loaded only if there is a translation.
import { useEffect, useState } from 'preact/hooks';
import { isTranslated, t } from './l10n.ts';

let sentences: { translateSentence(text: string, translate: typeof t): string } | undefined;
let loading: Promise<void> | undefined;

function load(): Promise<void> {
  loading ??= import('../../base/people/sentences.ts').then((loaded) => {
    sentences = loaded;
  });
  return loading;
}

/** `kind`: what the sentence is about, in case the sentence itself is not known. */
function inWords(text: string, kind?: string): string {
  const sentence = sentences?.translateSentence(text, t) ?? text;
  return sentence !== text || kind === undefined || t(kind) === kind ? sentence : `${t(kind)} ${text}`;
}

export function useWords(): typeof inWords {
  const [isLoaded, setLoaded] = useState(sentences !== undefined || !isTranslated);
  useEffect(() => {
    if (isLoaded) return;
    // Without the file the sentences stay English.
    void load().then(
      () => setLoaded(true),
      () => undefined,
    );
  }, []);
  return inWords;
}
