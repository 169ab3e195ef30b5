// Chooses the suggestions of an empty chat: only what can succeed in the open folder, with this model and mode.
import { type FolderFacts } from '../../protocol/page/folderView.ts';
import { type Settings } from '../../protocol/settings.ts';

/** For models; English texts, which are the keys of the translations. */
const TEXTS = {
  introduce: 'What can you do?',
  sample: 'Write a small program that I can copy',
  start: 'Start a new project in this folder',
  page: 'Create a small web page',
  plan: 'Plan a new project with me',
  summarize: 'Summarize the files in this folder',
  review: 'Find and fix mistakes in the texts',
  explain: 'Explain what this project does',
  findProblems: 'Find the problems in this folder and explain them',
  fixProblems: 'Find the problems in this folder and fix them',
  runTests: 'Run the tests and fix what fails',
  writeTests: 'Write tests for this project',
};

/** `model` is its label. Nothing before the folder is known. */
export function suggestionsFor(
  folder: FolderFacts | undefined,
  { label }: { readonly label: string },
  { mode }: Pick<Settings, 'mode'>,
): readonly string[] {
  if (folder === undefined) return [];
  const onlyReads = !folder.trusted || mode === 'plan';
  return label === 'Guide' ? forGuide(folder, onlyReads) : forModel(folder, onlyReads);
}

/** Requests that the built-in Guide understands. It understands English only, so they are not translated. */
function forGuide({ open, empty, code, readme, tests, check }: FolderFacts, onlyReads: boolean): readonly string[] {
  const help = 'What can you do?';
  if (!open || (empty && onlyReads)) return [help];
  if (empty) return ['Take the tour', 'Create notes.md with "Ideas"', help];
  const problems = onlyReads || !code ? 'Show the problems' : 'Fix the problems';
  return [
    ...(onlyReads ? [] : ['Take the tour']),
    'List the files',
    ...(readme === undefined ? [] : [`Read ${readme}`]),
    ...(onlyReads || tests === undefined ? [] : [`Run ${tests}`]),
    onlyReads || check === undefined ? problems : `Fix the problems, then run task ${check}`,
  ];
}

function forModel({ open, empty, code, tests }: FolderFacts, onlyReads: boolean): readonly string[] {
  if (!open) return [TEXTS.introduce, TEXTS.sample];
  if (empty) return onlyReads ? [TEXTS.introduce, TEXTS.plan] : [TEXTS.start, TEXTS.page, TEXTS.plan];
  if (!code) return [TEXTS.summarize, ...(onlyReads ? [] : [TEXTS.review])];
  if (onlyReads) return [TEXTS.explain, TEXTS.findProblems];
  return [TEXTS.explain, tests === undefined ? TEXTS.writeTests : TEXTS.runTests, TEXTS.fixProblems];
}
