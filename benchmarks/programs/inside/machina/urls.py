"""The addresses of the forum."""

from django.urls import include, path

urlpatterns = [
    path("accounts/", include("django.contrib.auth.urls")),
    path("forum/", include("machina.urls")),
]
