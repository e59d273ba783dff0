"""The addresses of the interface."""

from django.db.models import Model
from django.urls import include, path
from rest_framework.routers import DefaultRouter
from rest_framework.serializers import HyperlinkedModelSerializer
from rest_framework.viewsets import ReadOnlyModelViewSet

from benchmarks.programs.inside.restframework.models import Author, Book


def _serializer(model: type[Model]) -> type[HyperlinkedModelSerializer]:
    """Return what shows all fields of a model, with the addresses of what they name."""
    meta = type("Meta", (), {"model": model, "fields": "__all__"})
    return type(f"{model.__name__}Serializer", (HyperlinkedModelSerializer,), {"Meta": meta})


class Authors(ReadOnlyModelViewSet):
    """All authors, and each."""

    queryset = Author.objects.order_by("id")
    serializer_class = _serializer(Author)
    ordering_fields = ("name", "born")


class Books(ReadOnlyModelViewSet):
    """All books, and each; those of a year."""

    queryset = Book.objects.order_by("id")
    serializer_class = _serializer(Book)
    filterset_fields = ("year",)
    ordering_fields = ("title",)


_router = DefaultRouter()
_router.register("authors", Authors)
_router.register("books", Books)

urlpatterns = [
    path("api-auth/", include("rest_framework.urls")),
    path("api/", include(_router.urls)),
]
