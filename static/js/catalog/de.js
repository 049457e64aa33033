
'use strict';
{
  const globals = this;
  const django = globals.django || (globals.django = {});

  
  django.pluralidx = function(n) {
    const v = (n != 1);
    if (typeof v === 'boolean') {
      return v ? 1 : 0;
    } else {
      return v;
    }
  };
  

  /* gettext library */

  django.catalog = django.catalog || {};
  
  const newcatalog = {
    "%(at)s of %(all)s": "%(at)s von %(all)s",
    "%(at)s of more than %(all)s": "%(at)s von mehr als %(all)s",
    "%(minutes)s min ago": "vor %(minutes)s min",
    "%(name)s is still in archival memory, as the server is not answering. Delete its passages in the Archival tab.": "%(name)s ist noch im Archiv, weil der Server nicht antwortet. L\u00f6sche die Notizen daraus im Reiter \u201eArchiv\u201c.",
    "%(name)s, %(width)s \u00d7 %(height)s pixels": "%(name)s, %(width)s \u00d7 %(height)s Pixel",
    "%(name)s: a temporary chat has no archival memory for a file; attach images only.": "%(name)s: Ein tempor\u00e4rer Chat hat kein Archiv f\u00fcr eine Datei; h\u00e4nge nur Bilder an.",
    "%(name)s: the file has %(size)s MB; at most %(most)s MB are allowed.": "%(name)s: Die Datei hat %(size)s MB; h\u00f6chstens %(most)s MB sind erlaubt.",
    "%(percent)s % uploaded": "%(percent)s % hochgeladen",
    "%(stored)s of %(total)s passage stored": [
      "%(stored)s von %(total)s Notiz gespeichert",
      "%(stored)s von %(total)s Notizen gespeichert"
    ],
    "%(total)s passage in archival memory": [
      "%(total)s Notiz im Archiv",
      "%(total)s Notizen im Archiv"
    ],
    "%s change": [
      "%s \u00c4nderung",
      "%s \u00c4nderungen"
    ],
    "%s found": [
      "%s gefunden",
      "%s gefunden"
    ],
    "A file is still being uploaded or read; send the message when that is done.": "Eine Datei wird noch hochgeladen oder gelesen; sende die Nachricht, wenn das fertig ist.",
    "A message may have at most %(most)s files.": "Eine Nachricht darf h\u00f6chstens %(most)s Dateien haben.",
    "Block %(number)s": "Block %(number)s",
    "Browsers use passkeys and security keys only where the address is a name with TLS, or localhost.": "Browser verwenden Passkeys und Sicherheitsschl\u00fcssel nur, wo die Adresse ein Name mit TLS ist, oder localhost.",
    "Code": "Code",
    "Code, %(language)s": "Code, %(language)s",
    "Copied": "Kopiert",
    "Copy": "Kopieren",
    "Done": "Fertig",
    "It could not be copied. Select the text and copy it yourself.": "Das Kopieren hat nicht geklappt. Markiere den Text und kopiere ihn selbst.",
    "It was removed from archival memory. Attach it again.": "Sie wurde aus dem Archiv entfernt. H\u00e4nge sie noch einmal an.",
    "Memory changed: %(block)s": "Ged\u00e4chtnis ge\u00e4ndert: %(block)s",
    "Memory changed: %(block)s, added %(added)s": "Ged\u00e4chtnis ge\u00e4ndert: %(block)s, hinzugef\u00fcgt: %(added)s",
    "Memory changed: %(block)s, added %(added)s; removed %(removed)s": "Ged\u00e4chtnis ge\u00e4ndert: %(block)s, hinzugef\u00fcgt: %(added)s; entfernt: %(removed)s",
    "Memory changed: %(block)s, removed %(removed)s": "Ged\u00e4chtnis ge\u00e4ndert: %(block)s, entfernt: %(removed)s",
    "New block": "Neuer Block",
    "No key was used: the browser found none for this page, or it was stopped. Try again.": "Es wurde kein Schl\u00fcssel verwendet: Der Browser fand keinen f\u00fcr diese Seite, oder es wurde abgebrochen. Versuch es noch einmal.",
    "No microphone was found. Connect one, then try again.": "Es wurde kein Mikrofon gefunden. Schlie\u00dfe eins an und versuch es dann noch einmal.",
    "Not copied": "Nicht kopiert",
    "Nothing found": "Nichts gefunden",
    "Now": "Jetzt",
    "Pause": "Pause",
    "Play": "Abspielen",
    "Reading\u2026": "Wird gelesen \u2026",
    "Remove %(name)s": "%(name)s entfernen",
    "Remove it": "Entfernen",
    "Show all": "Alles zeigen",
    "Show less": "Weniger zeigen",
    "Step %(number)s of %(all)s": "Schritt %(number)s von %(all)s",
    "Table": "Tabelle",
    "The browser may not use the microphone. Allow it beside the address of this page, then try again.": "Der Browser darf das Mikrofon nicht verwenden. Erlaube es neben der Adresse dieser Seite und versuch es dann noch einmal.",
    "The browser\u2019s speech service cannot be reached. Try again later, or type your message.": "Der Sprachdienst des Browsers ist nicht erreichbar. Versuch es sp\u00e4ter noch einmal oder tippe deine Nachricht.",
    "The browser\u2019s speech service does not know your language. Type your message instead.": "Der Sprachdienst des Browsers kennt deine Sprache nicht. Tippe deine Nachricht stattdessen.",
    "The file has %(size)s MB; at most %(most)s MB are allowed.": "Die Datei hat %(size)s MB; h\u00f6chstens %(most)s MB sind erlaubt.",
    "The message has %(length)s characters; at most %(most)s are allowed. Shorten it or send it in parts.": "Die Nachricht hat %(length)s Zeichen; h\u00f6chstens %(most)s sind erlaubt. K\u00fcrze sie oder sende sie in Teilen.",
    "The message is empty; write something first.": "Die Nachricht ist leer; schreib zuerst etwas.",
    "The rest of this block could not be loaded. Try again.": "Der Rest dieses Blocks konnte nicht geladen werden. Versuch es noch einmal.",
    "The server is not answering": "Der Server antwortet nicht",
    "The server is not answering, so the agent was not stopped.": "Der Server antwortet nicht, der Agent wurde also nicht angehalten.",
    "The server is not answering, so the name is as it was.": "Der Server antwortet nicht, der Name ist also wie zuvor.",
    "The server is not answering. Your message is kept here and is sent when it is back.": "Der Server antwortet nicht. Deine Nachricht bleibt hier und wird gesendet, wenn er wieder da ist.",
    "The server is not answering; attach it again when it is back.": "Der Server antwortet nicht; h\u00e4nge die Datei noch einmal an, wenn er wieder da ist.",
    "The server is not answering; search again when it is back.": "Der Server antwortet nicht; suche noch einmal, wenn er wieder da ist.",
    "The server is not answering; upload the file again when it is back.": "Der Server antwortet nicht; lade die Datei noch einmal hoch, wenn er wieder da ist.",
    "The server refused the file.": "Der Server hat die Datei abgelehnt.",
    "The server refused the message. Reload the page, then try again.": "Der Server hat die Nachricht abgelehnt. Lade die Seite neu und versuch es noch einmal.",
    "The server refused the name.": "Der Server hat den Namen abgelehnt.",
    "The value could not be copied: the browser allows that only on secure pages, and with your leave.": "Der Wert konnte nicht kopiert werden: Der Browser erlaubt das nur auf sicheren Seiten und mit deiner Zustimmung.",
    "This block changed while you were typing. Your text is kept; when you save, you choose what to keep.": "Dieser Block hat sich ge\u00e4ndert, w\u00e4hrend du geschrieben hast. Dein Text bleibt; beim Speichern w\u00e4hlst du, was bleiben soll.",
    "This browser does not offer dictation here. Type your message instead.": "Dieser Browser bietet hier kein Diktieren an. Tippe deine Nachricht stattdessen.",
    "This key was added already.": "Dieser Schl\u00fcssel wurde schon hinzugef\u00fcgt.",
    "This tab could not be loaded: the server did not answer correctly. Open it again, or reload the page.": "Dieser Reiter konnte nicht geladen werden: Der Server hat nicht richtig geantwortet. \u00d6ffne ihn noch einmal oder lade die Seite neu.",
    "Tool rule %(number)s": "Werkzeugregel %(number)s",
    "Uploading %(name)s\u2026": "%(name)s wird hochgeladen \u2026",
    "Waits for you": "Wartet auf dich",
    "You are no longer logged in. Your message is kept here: reload the page and log in.": "Du bist nicht mehr angemeldet. Deine Nachricht bleibt hier: Lade die Seite neu und melde dich an.",
    "You are no longer logged in: reload the page and log in.": "Du bist nicht mehr angemeldet: Lade die Seite neu und melde dich an.",
    "You are offline. Your message is kept here, and is sent when you are back.": "Du bist offline. Deine Nachricht bleibt hier und wird gesendet, wenn du wieder da bist.",
    "just now": "gerade eben"
  };
  for (const key in newcatalog) {
    django.catalog[key] = newcatalog[key];
  }
  

  if (!django.jsi18n_initialized) {
    django.gettext = function(msgid) {
      const value = django.catalog[msgid];
      if (typeof value === 'undefined') {
        return msgid;
      } else {
        return (typeof value === 'string') ? value : value[0];
      }
    };

    django.ngettext = function(singular, plural, count) {
      const value = django.catalog[singular];
      if (typeof value === 'undefined') {
        return (count == 1) ? singular : plural;
      } else {
        return value.constructor === Array ? value[django.pluralidx(count)] : value;
      }
    };

    django.gettext_noop = function(msgid) { return msgid; };

    django.pgettext = function(context, msgid) {
      let value = django.gettext(context + '\x04' + msgid);
      if (value.includes('\x04')) {
        value = msgid;
      }
      return value;
    };

    django.npgettext = function(context, singular, plural, count) {
      let value = django.ngettext(context + '\x04' + singular, context + '\x04' + plural, count);
      if (value.includes('\x04')) {
        value = django.ngettext(singular, plural, count);
      }
      return value;
    };

    django.interpolate = function(fmt, obj, named) {
      if (named) {
        return fmt.replace(/%\(\w+\)s/g, function(match){return String(obj[match.slice(2,-2)])});
      } else {
        return fmt.replace(/%s/g, function(match){return String(obj.shift())});
      }
    };


    /* formatting library */

    django.formats = {
    "DATETIME_FORMAT": "j. M Y, H:i",
    "DATETIME_INPUT_FORMATS": [
      "%d.%m.%Y %H:%M:%S",
      "%d.%m.%Y %H:%M:%S.%f",
      "%d.%m.%Y %H:%M",
      "%Y-%m-%d %H:%M:%S",
      "%Y-%m-%d %H:%M:%S.%f",
      "%Y-%m-%d %H:%M",
      "%Y-%m-%d"
    ],
    "DATE_FORMAT": "j. M Y",
    "DATE_INPUT_FORMATS": [
      "%d.%m.%Y",
      "%d.%m.%y",
      "%Y-%m-%d"
    ],
    "DECIMAL_SEPARATOR": ",",
    "FIRST_DAY_OF_WEEK": 1,
    "MONTH_DAY_FORMAT": "j. F",
    "NUMBER_GROUPING": 3,
    "SHORT_DATETIME_FORMAT": "d.m.Y H:i",
    "SHORT_DATE_FORMAT": "d.m.Y",
    "THOUSAND_SEPARATOR": ".",
    "TIME_FORMAT": "H:i",
    "TIME_INPUT_FORMATS": [
      "%H:%M:%S",
      "%H:%M:%S.%f",
      "%H:%M"
    ],
    "YEAR_MONTH_FORMAT": "F Y"
  };

    django.get_format = function(format_type) {
      const value = django.formats[format_type];
      if (typeof value === 'undefined') {
        return format_type;
      } else {
        return value;
      }
    };

    /* add to global namespace */
    globals.pluralidx = django.pluralidx;
    globals.gettext = django.gettext;
    globals.ngettext = django.ngettext;
    globals.gettext_noop = django.gettext_noop;
    globals.pgettext = django.pgettext;
    globals.npgettext = django.npgettext;
    globals.interpolate = django.interpolate;
    globals.get_format = django.get_format;

    django.jsi18n_initialized = true;
  }
};

