// Formats moments for people.

/** `17:00`; with the day if it is not today. */
export function formatMoment(moment: string): string {
  const date = new Date(moment);
  const isToday = date.toDateString() === new Date().toDateString();
  const timeStyle = 'short';
  return date.toLocaleString([], isToday ? { timeStyle } : { dateStyle: 'medium', timeStyle });
}
