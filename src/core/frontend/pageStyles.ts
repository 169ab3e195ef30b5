// The style sheets of the chat page, in VS Code and in a browser.

/** Later style sheets override earlier ones. */
export const PAGE_STYLES: readonly string[] = [
  'chat.css',
  'markdown.css',
  'tools.css',
  'forms.css',
  'changes.css',
  'review.css',
  'handles.css',
  'composer.css',
  'panel.css',
  'conversations.css',
  'pending.css',
  'strip.css',
];
