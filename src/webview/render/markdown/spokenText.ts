// The beginning of a Markdown text as a screen reader should read it: without Markdown syntax.

const LONGEST = 2000;

/** Linear: every pattern is bounded. */
export function spokenText(markdown: string): string {
  return markdown
    .slice(0, LONGEST)
    .replace(/^[ \t]{0,20}(?:`{3,20}|~{3,20})[^\n]{0,100}$/gm, '')
    .replace(/^[ \t]{0,20}(?:#{1,6}|>|[-*+])[ \t]/gm, '')
    .replace(/!?\[([^\]\n]{0,300})\]\([^)\n]{0,500}\)/g, '$1')
    .replace(/\*{2,3}|_{2,3}|`+/g, '')
    .replace(/(^|\s)\*(?=\S)|(\S)\*(?=\s|[.,:;!?)]|$)/g, '$1$2');
}
