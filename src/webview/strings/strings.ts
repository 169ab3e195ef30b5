// UI strings of the chat page. Parts with many strings have a file of their own, here or next to the component.
import type { FileDiff } from '../../protocol/page/diffView.ts';
import type { HandleView } from '../../protocol/page/handlesView.ts';
import type { TodoItem } from '../../protocol/todo.ts';
import type { ToolState } from '../../protocol/transcript.ts';
import { t } from './l10n.ts';

const MOST_ANNOUNCED = 600;

function fileSize(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? t('1 byte') : t('{0} bytes', bytes);
  const [size, unit] = bytes < 1024 * 1024 ? [bytes / 1024, 'KB'] : [bytes / 1024 / 1024, 'MB'];
  return t('{0} {1}', size < 10 ? size.toFixed(1) : Math.round(size), unit);
}

export const strings = {
  transcript: t('Conversation'),
  you: t('You'),
  earshot: t('Earshot'),
  thinking: t('Thinking'),
  thought: t('Thoughts'),
  working: t('Working…'),
  truncated: t('The answer was cut off.'),
  copy: t('Copy'),
  copied: t('Copied'),
  showRequest: t('Show what the model saw'),
  copyAnswer: t('Copy answer'),
  code: t('Code'),
  table: t('Table'),
  taskDone: t('Done'),
  taskOpen: t('To do'),
  output: t('Output'),
  noOutput: t('No output'),
  arguments: t('Arguments'),
  command: t('Command'),
  noArguments: t('No arguments'),
  showEarlier: (count: number) => t('Show earlier ({0})', count),
  scrollToBottom: t('Scroll to bottom'),
  loading: t('Loading the conversation…'),
  itemFailed: t('This item could not be displayed. Its text is available.'),
  itemText: t('Show text'),
  pageFailed: t('The chat could not be displayed, and restarting it did not help.'),
  pageFailedNext: t(
    'Your conversation is saved, and a running turn continues. Restart the chat, or open another conversation with Earshot: Open Conversation. For details, run Earshot: Show Log.',
  ),
  restartPage: t('Restart Chat'),

  states: {
    approval: t('Needs approval'),
    question: t('Needs an answer'),
    writing: t('Writing'),
    running: t('Running'),
    done: t('Done'),
    failed: t('Failed'),
    rejected: t('Rejected'),
    not_run: t('Not run'),
    interrupted: t('Interrupted'),
  } satisfies Record<ToolState, string>,

  verbs: {
    read: t('Read'),
    list: t('List files'),
    search: t('Search for'),
    edit: t('Edit'),
    patch: t('Patch'),
    write: t('Write'),
    move: t('Move'),
    delete: t('Delete'),
    run: t('Run'),
    runTask: t('Run task'),
    runTests: t('Run tests'),
    handle: {
      list: t('List background commands'),
      fetch: t('Get output of'),
      apply: t('Type into'),
      abort: t('Stop'),
    } as Readonly<Record<string, string>>,
    await: t('Wait for background commands'),
    startAgent: t('Start subagent'),
    diagnostics: t('Check problems'),
    fetch: t('Fetch'),
    todo: t('Update the to-do list'),
    symbols: {
      definition: t('Find the definition of'),
      references: t('Find references to'),
      rename: t('Rename'),
      outline: t('Outline'),
      find: t('Find the symbol'),
    } as Readonly<Record<string, string>>,
    watch: t('Watch'),
    wakeWhen: t('Wake for'),
    unwatch: t('Stop watching'),
    loadSkill: t('Load skill'),
    sendMessage: t('Send to other agents:'),
    readMessage: t('Read message'),
    listAgents: t('List agents'),
    readNotifications: t('Read notifications'),
    findTools: t('Find tools for'),
    readResource: t('Read resource'),
    subscribeEvents: t('Subscribe to events'),
    ask: t('Question:'),
    quickFix: t('Quick fix'),
  },

  handles: t('Background'),
  handlesSummary: ({
    running,
    waiting,
    waitingForYou,
    all,
  }: Readonly<Record<'running' | 'waiting' | 'waitingForYou' | 'all', number>>) => {
    const ended = all - running - waiting - waitingForYou;
    const parts = [
      ...(running > 0 ? [t('{0} running', running)] : []),
      ...(waiting > 0 ? [t('{0} may be waiting for input', waiting)] : []),
      ...(waitingForYou > 0 ? [t('{0} waiting for you', waitingForYou)] : []),
      ...(ended > 0 ? [t('{0} ended', ended)] : []),
    ];
    return parts.join(' · ');
  },
  handleStates: {
    running: t('Running'),
    waiting: t('May be waiting for input'),
    stopped: t('Ended'),
    failed: t('Failed'),
  } satisfies Record<HandleView['state'], string>,
  agentEnded: t('Ended'),
  parentOf: (title: string) => t('Subagent of {0}', title),
  otherConversation: t('another conversation'),
  openParent: t('Open the conversation that started this subagent'),
  runningFor: (time: string) => t('running for {0}', time),
  agentWaits: t('Waiting for you'),
  agentTokens: (count: number) => t('{0} tokens', count.toLocaleString()),
  openAgent: (name: string) => t('Open the conversation of {0}', name),
  open: t('Open'),
  taskOfAgent: t('Task from the agent that started this subagent'),
  notifyOfHandle: (name: string) => t('Notify the model of the state of {0}', name),
  showTerminal: (name: string) => t('Show {0} in a terminal', name),
  stopHandle: (name: string) => t('Stop {0}', name),
  removeHandle: (name: string) => t('Remove {0} from the list', name),
  outputOf: (name: string) => t('Last output of {0}', name),
  moveToBackground: t('Move to background'),
  moveToBackgroundTitle: t('Continue the command in the background and let the agent go on'),
  terminal: t('Terminal'),
  terminalTitle: t('Show the command in a terminal'),
  openFile: t('Open the file'),
  diffLabel: (path: string, added: number, removed: number) =>
    t('Changes in {0}: {1} added, {2} removed', path, added, removed),
  diffCounts: (added: number, removed: number) => t('Lines added: {0}, removed: {1}', added, removed),
  diffKinds: { created: t('new'), changed: t('changed'), deleted: t('deleted'), moved: t('moved') } satisfies Record<
    FileDiff['kind'],
    string
  >,
  diffNotes: {
    not_text: t('Not a text file.'),
    too_long: t('Too large to compare here.'),
    gone: t('The previous content is no longer stored.'),
  } satisfies Record<NonNullable<FileDiff['note']>, string>,
  diffSizes: (before: number | undefined, after: number | undefined) => {
    if (before === undefined || after === undefined) {
      const size = before ?? after;
      return size === undefined ? '' : t('{0}.', fileSize(size));
    }
    return t('{0} before, {1} after.', fileSize(before), fileSize(after));
  },
  diffMore: (lines: number) => (lines === 1 ? t('Show 1 more line') : t('Show {0} more lines', lines)),
  diffLess: t('Show less'),
  diffCut: (lines: number) =>
    lines === 1 ? t('1 more line is not shown here.') : t('{0} more lines are not shown here.', lines),
  previewRefused: (reason: string) => t('With the current files this call would be refused: {0}', reason),
  previewMore: (files: number) =>
    files === 1 ? t('1 more file is not shown here.') : t('{0} more files are not shown here.', files),
  diffEverywhere: t('All occurrences are replaced.'),

  todo: t('To-do'),
  todoItems: t('To-do list'),
  todoCount: (done: number, all: number) => t('{0} of {1} done', done, all),
  todoStates: { open: t('Open'), doing: t('In progress'), done: t('Done') } satisfies Record<TodoItem['state'], string>,

  approvalLabel: (title: string) => t('Approval: {0}', title),
  approvalQuestion: {
    run_command: t('Earshot wants to run this command.'),
    read_file: t('Earshot wants to read this file.'),
    list_files: t('Earshot wants to list this folder.'),
    write_file: t('Earshot wants to write this file.'),
    edit_file: t('Earshot wants to change this file.'),
    apply_patch: t('Earshot wants to change files.'),
    move_file: t('Earshot wants to move this file.'),
    delete_file: t('Earshot wants to delete this file.'),
    run_task: t('Earshot wants to run this task.'),
    run_tests: t('Earshot wants to run these tests.'),
    quick_fix: t('Earshot wants to apply this quick fix.'),
    send_message: t('Earshot wants to send this message to other agents.'),
    fetch_url: t('Earshot wants to fetch this address.'),
  } as Readonly<Record<string, string>>,
  approvalQuestionKnown: (label: string) => t('Earshot asks for approval: {0}.', label),
  approvalQuestionOther: (name: string) => t('Earshot wants to use the tool {0}.', name),
  reject: t('Reject'),
  modify: t('Modify…'),
  modifyTitle: t('Edit the call before it runs'),
  modifyCancel: t('Back'),
  modifyRun: t('Run this'),
  modifyCommand: t('Command to run instead'),
  modifyArguments: t('Arguments as JSON'),
  modifyNotObject: t('This is not a JSON object.'),
  approvalBecause: (reason: string) => t('Asked because {0}', reason),
  approvalProblem: (problem: string) => t('Asked again: {0}', problem),
  answeredBy: (by: string, program?: { readonly pid: number; readonly command: string }) => {
    if (by === 'timeout') return t('Answered automatically: nobody answered in time');
    const plugin = /^plugin:(.*)$/.exec(by)?.[1];
    if (plugin === 'web-chat') return t('Answered in the web chat');
    if (plugin === undefined) return t('Answered by {0}', by);
    if (program === undefined) return t('Answered by program plugin {0}', plugin);
    return t('Answered by program plugin {0} (process {1}: {2})', plugin, String(program.pid), program.command);
  },
  rejectReason: t('Reason for rejecting (optional)'),
  rejectReasonBrief: t('Reason (optional)'),
  questionLabel: (text: string) => t('Question: {0}', text),
  questionProblem: (problem: string) => t('The answer was not accepted: {0}', problem),
  questionSkipped: t('Skipped: no answer was given.'),
  questionUnanswered: t('No answer was given.'),
  questionElsewhere: t('Waiting for an answer.'),
  chooseOne: t('Choose one'),
  chooseSeveral: t('Choose any number'),
  chosen: t('chosen'),
  answer: t('Answer'),
  yourAnswer: t('Your answer'),
  otherAnswer: t('Other answer'),
  skip: t('Skip'),
  skipTitle: t('Continue without an answer'),
  hiddenCharacters: t('Invisible characters are shown as ⟨U+…⟩.'),

  changes: t('Changed files'),
  filesChanged: (count: number) => (count === 1 ? t('1 file changed') : t('{0} files changed', count)),
  changesSpoken: (count: number, added: number, removed: number) =>
    count === 1
      ? t('Earshot changed 1 file. Lines added: {0}, removed: {1}.', added, removed)
      : t('Earshot changed {0} files. Lines added: {1}, removed: {2}.', count, added, removed),
  countsSpoken: (added: number, removed: number) => t('{0} added, {1} removed', added, removed),
  moreFiles: (count: number) => t('and {0} more. Review shows all of them.', count),
  changeKinds: { created: t('new'), deleted: t('deleted') },
  changesClash: t('You have changed the same lines since. You can keep these changes, but not undo all of them.'),
  changesOverwrote: t('A command overwrote changes made by others. Undo restores them.'),
  keep: t('Keep'),
  undo: t('Undo'),
  review: t('Review'),
  keepAllTitle: t('Keep all changes'),
  undoAllTitle: t('Undo all changes'),
  reviewAllTitle: t('Show all changes in the editor'),
  undoDisabledTitle: t('You can undo changes after the turn has ended'),
  keepOne: (what: string) => t('Keep changes in {0}', what),
  undoOne: (what: string) => t('Undo changes in {0}', what),
  showChangesOf: t('Show changes in'),
  partOf: (name: string) => t('Show changes in {0}, line', name),
  reviewFileTitle: (what: string) => t('Show changes in {0}', what),
  partsOf: (count: number, name: string) => t('{0} changes in {1}', count, name),
  partAt: (name: string, line: number) => t('{0}, line {1}', name, line),
  changedMeanwhile: (count: number) =>
    count === 1 ? t('1 file changed meanwhile') : t('{0} files changed meanwhile', count),
  meanwhileTitle: t('Files that changed while a command of Earshot was running, and are not known to be changed by it'),
  meanwhileNote: t(
    'Changed while a command was running, and not known to be changed by it. Undo does not affect these files.',
  ),
  meanwhileSpoken: (count: number) =>
    count === 1
      ? t('1 file changed while a command was running, and is not known to be changed by it.')
      : t('{0} files changed while a command was running, and are not known to be changed by it.', count),
  moreMeanwhile: (count: number) => t('and {0} more', count),
  dismiss: t('Dismiss'),
  dismissMeanwhileTitle: t('Remove these files from the list without changing them'),
  dismissOne: (what: string) => t('Remove {0} from the list', what),
  restoreMeanwhile: (what: string) => t('Restore {0} to its state before the command…', what),
  restoreTitle: t('Restore files or the conversation to before this message…'),

  helloTitle: t('Hello, I am Earshot.'),
  hello: t('What would you like to do?'),
  helloNotifications: t(
    'While I work, I am notified of what happens around me: your edits, failed builds, new errors. Notifications arrive with the next tool result or request, and you can see exactly what I received.',
  ),
  tryThis: t('Try one of these'),
  guide: 'Guide',
  chooseModelHint: t('The Guide works by rules and uses no AI. For everything else, choose a model.'),
  chooseModelButton: t('Choose Model'),
  versions: (version: string, hostVersion: string) => t('Earshot {0} · VS Code {1}', version, hostVersion),

  composer: t('Message to Earshot'),
  placeholder: t('Ask or describe a task'),
  placeholderRunning: t('Earshot is working…'),
  placeholderApproval: t('Waiting for your approval'),
  placeholderQuestion: t('Waiting for your answer'),
  placeholderClosed: t('Messages cannot be sent right now'),
  closedHint: t('Messages cannot be sent right now; see the message at the top. Your text is kept.'),
  runningHint: t('Enter queues this message for the next tool result or request. Ctrl+Enter interrupts.'),
  awaitsApprovalHint: t('Waiting for your approval. Enter queues this message; it does not approve.'),
  returnedHint: t('Your queued message was not delivered. Send it, or delete it.'),
  tooLong: t('This text is too long to send.'),
  composerButtons: {
    send: { label: t('Send'), title: t('Send (Enter)') },
    queue: { label: t('Queue'), title: t('Queue for the next tool result or request (Enter)') },
    interrupt: { label: t('Interrupt'), title: t('Interrupt the turn and send this message (Ctrl+Enter)') },
    stop: { label: t('Stop'), title: t('Stop the turn') },
  },
  queued: t('Queued'),
  queuedList: t('Queued messages'),
  removeQueued: t('Remove from queue and edit'),
  removeQueuedLabel: (text: string) => t('Remove from queue: {0}', text),
  attachmentList: t('Attached'),
  detach: t('Remove'),
  detachLabel: (name: string) => t('Remove {0}', name),
  imageType: (name: string) =>
    t('{0} cannot be attached. Supported formats are PNG, JPEG, GIF and WebP.', name || t('This image')),
  imageTooLarge: (name: string) => t('{0} cannot be attached. It is larger than 10 MB.', name || t('This image')),
  imageUnreadable: (name: string) => t('{0} cannot be read.', name || t('This image')),
  approvalChoice: t('What to do with this text'),
  rejectWithThis: (calls: number) =>
    calls === 1 ? t('Reject with this reason') : t('Reject all {0} with this reason', calls),
  queueInstead: t('Queue'),
  meanwhile: t('You, during the turn'),
  model: t('Model'),

  announceAnswer: (text: string) =>
    t('Earshot answered: {0}', text.length > MOST_ANNOUNCED ? `${text.slice(0, MOST_ANNOUNCED)}…` : text),
  announceQuestion: (text: string) => t('Earshot asks: {0}', text),
  announceApproval: (title: string) => t('Approval needed: {0}', title),
};
