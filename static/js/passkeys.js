// A passkey or security key that was not used: the browser tells scripts alone, so the page says it.
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const words = {
    InvalidStateError: gettext("This key was added already."),
    SecurityError: gettext("Browsers use passkeys and security keys only where the address is a name with TLS, or localhost."),
  };
  const notice = document.getElementById("no-passkey") ?? document.createElement("p");
  notice.id = "no-passkey";
  notice.className = "refusal";
  notice.setAttribute("role", "alert");
  notice.textContent = words[event.detail.exception?.name] ?? gettext("No key was used: the browser found none for this page, or it was stopped. Try again.");
  document.querySelector("main h1").after(notice);
});
