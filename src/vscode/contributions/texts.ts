// Moves the texts that users read out of package.json: each becomes a key of package.nls.json, which VS Code translates.

/** Properties of contributions whose strings are texts. */
const TEXTS = new Set(['title', 'name', 'description', 'markdownDescription', 'altText', 'enumDescriptions']);
const BRAND = 'Earshot';

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** The contributions with `%key%` in the place of each text, and the texts by key. */
export function extractTexts(contributions: object): {
  readonly contributions: object;
  readonly texts: Readonly<Record<string, string>>;
} {
  const texts: Record<string, string> = {};
  const visit = (value: Json, path: readonly string[], name: string): Json => {
    if (typeof value === 'string') {
      if (!TEXTS.has(name) || value === BRAND) return value;
      const key = path.join('.').replace(/[^\w.-]/g, '_');
      if (texts[key] !== undefined) throw new Error(`two texts have the key ${key}`);
      texts[key] = value;
      return `%${key}%`;
    }
    if (Array.isArray(value)) {
      return value.map((one: Json, index) => visit(one, [...path, identify(one) ?? String(index)], name));
    }
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, key === 'default' ? one : visit(one, [...path, key], key)]),
    );
  };
  const replaced = visit(JSON.parse(JSON.stringify(contributions)) as Json, [], '');
  return { contributions: replaced as object, texts };
}

function identify(value: Json): string | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  const { id, command, title } = value as { readonly [key: string]: Json };
  return [id, command, title].find((one) => typeof one === 'string');
}
